import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { Caller } from './caller.ts'
import { accountPrincipal } from './principal.ts'

/** A change of a user, key, agent or session. Caches drop the callers that it affects. */
export type IdentityChange =
  /** The id of an account, or `email:<address>` for a person of the Workspace without one. */
  | { user_id: string }
  | { key_id: string }
  | { agent_id: string }
  | { session_id: string }
  /** The run has ended, and its key with it. */
  | { execution_id: string }

/** True if the change may alter this caller or end its validity. */
export function isTouched(caller: Caller, change: IdentityChange | 'all'): boolean {
  if (change === 'all') return true
  if (caller.kind === 'anonymous') return false
  if ('user_id' in change) return caller.user.id === change.user_id || isRunFor(caller, change.user_id)
  if ('session_id' in change) return caller.kind === 'session' && caller.session.jti === change.session_id
  if (caller.kind !== 'key') return false
  if ('execution_id' in change) return caller.run?.execution_id === change.execution_id
  return 'key_id' in change ? caller.key.id === change.key_id : caller.key.agent_id === change.agent_id
}

/** The key of a run that works for this person: its rights are theirs. */
function isRunFor(caller: Caller, userId: string): boolean {
  const path = caller.kind === 'key' ? caller.key.principal?.split('/') : undefined
  return path?.includes(accountPrincipal(userId)) ?? false
}

/** The same for the key of an agent's link. */
export function isLinkTouched(
  link: { keyId: string; agentId: string; ownerId: string },
  change: IdentityChange | 'all',
): boolean {
  if (change === 'all') return true
  if ('user_id' in change) return link.ownerId === change.user_id
  if ('key_id' in change) return link.keyId === change.key_id
  return 'agent_id' in change && link.agentId === change.agent_id
}

export type IdentityChanges = {
  /** Call after the commit. Notifies the listeners of this process synchronously, other processes later. */
  announce(change: IdentityChange): void
  /** Notifies this process only, of a change that every process notices by itself. */
  notice(change: IdentityChange): void
  /** `all`: messages of other processes may have been lost, so drop everything. */
  on(listener: (change: IdentityChange | 'all') => void): void
  close(): Promise<void>
}

const topic = 'identity.changed'

/** Opens the channel between processes. Without the ephemeral store it covers this process only. */
export async function openIdentityChanges(deps: {
  ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>
  /** A message to or from the other processes was lost. */
  onLost(error: unknown): void
}): Promise<IdentityChanges> {
  const listeners: ((change: IdentityChange | 'all') => void)[] = []
  const notify = (change: IdentityChange | 'all') => {
    for (const listener of listeners) listener(change)
  }
  // Fails open: the caches of other processes expire by themselves.
  const onLost = (error: unknown) => {
    deps.onLost(error)
    return null
  }
  const subscription = await deps.ephemeral
    .subscribe(
      topic,
      (message) => notify(readChange(message)),
      () => notify('all'),
    )
    .catch(onLost)
  return {
    announce(change) {
      notify(change)
      deps.ephemeral.publish(topic, JSON.stringify(change)).catch(onLost)
    },
    notice: notify,
    on: (listener) => {
      listeners.push(listener)
    },
    close: async () => {
      await subscription?.close()
    },
  }
}

/** Returns `all` for an unreadable message, for example from another version. */
function readChange(message: string): IdentityChange | 'all' {
  try {
    const change: unknown = JSON.parse(message)
    const known = ['user_id', 'key_id', 'agent_id', 'session_id']
    if (typeof change === 'object' && change !== null) {
      const [field, value] = Object.entries(change)[0] ?? []
      // Verified here: one known field with a string value.
      if (field && known.includes(field) && typeof value === 'string') return change as IdentityChange
    }
  } catch {
    // Not JSON: treated as `all`.
  }
  return 'all'
}
