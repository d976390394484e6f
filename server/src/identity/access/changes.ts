import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { Caller } from './caller.ts'

/** Something that callers are made of has changed: whoever remembers a caller forgets those it touches. */
export type IdentityChange =
  | { user_id: string }
  | { key_id: string }
  | { agent_id: string }
  | { session_id: string }

/** Whether a change may touch what this caller is, or whether it still is. */
export function isTouched(caller: Caller, change: IdentityChange | 'all'): boolean {
  if (change === 'all') return true
  if (caller.kind === 'anonymous') return false
  if ('user_id' in change) return caller.user.id === change.user_id
  if ('session_id' in change) return caller.kind === 'session' && caller.session.jti === change.session_id
  if (caller.kind !== 'key') return false
  return 'key_id' in change ? caller.key.id === change.key_id : caller.key.agent_id === change.agent_id
}

export type IdentityChanges = {
  /** After the commit. Listeners of this process have been called when it returns; other processes follow. */
  announce(change: IdentityChange): void
  /** `all`: messages of other processes may have been lost, forget everything. */
  on(listener: (change: IdentityChange | 'all') => void): void
  close(): Promise<void>
}

const topic = 'identity.changed'

/** Opens the channel between processes; without the ephemeral store it works for this process alone. */
export async function openIdentityChanges(deps: {
  ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>
  /** A message to or from the other processes was lost. */
  onLost(error: unknown): void
}): Promise<IdentityChanges> {
  const listeners: ((change: IdentityChange | 'all') => void)[] = []
  const tell = (change: IdentityChange | 'all') => {
    for (const listener of listeners) listener(change)
  }
  // Fails open: what other processes remember is bounded by the age of their caches.
  const lost = (error: unknown) => {
    deps.onLost(error)
    return null
  }
  const subscription = await deps.ephemeral
    .subscribe(
      topic,
      (message) => tell(readChange(message)),
      () => tell('all'),
    )
    .catch(lost)
  return {
    announce(change) {
      tell(change)
      deps.ephemeral.publish(topic, JSON.stringify(change)).catch(lost)
    },
    on: (listener) => {
      listeners.push(listener)
    },
    close: async () => {
      await subscription?.close()
    },
  }
}

/** A message of another version that cannot be read counts as `all`. */
function readChange(message: string): IdentityChange | 'all' {
  try {
    const change: unknown = JSON.parse(message)
    const known = ['user_id', 'key_id', 'agent_id', 'session_id']
    if (typeof change === 'object' && change !== null) {
      const [field, value] = Object.entries(change)[0] ?? []
      // Checked by hand just above: one known field that holds text.
      if (field && known.includes(field) && typeof value === 'string') return change as IdentityChange
    }
  } catch {
    // falls through
  }
  return 'all'
}
