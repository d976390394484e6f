import { isSharedWith, relationOf } from '../../agents/access/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import type { StoredEvent } from '../../foundation/outbox/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'

export type Viewer = {
  caller: SignedIn
  /** If the caller is an agent: ids of agents it may call. */
  permitted: ReadonlySet<string>
}

/** `reduced` omits the reserved fields; null shows nothing. */
export type EventView = 'whole' | 'reduced' | null

/**
 * Decides what a viewer sees of an event at its delivery or replay. `agents` are the event's agents in order, in their
 * present state; null for a deleted one.
 */
export function viewFor(viewer: Viewer, event: StoredEvent, agents: readonly (Agent | null)[]): EventView {
  const { caller } = viewer
  const isAdmin = seesEverything(caller)
  // Forks of attempts are shown only as part of their set.
  if (agents.some((agent) => agent?.attempt_set_id)) return null
  if (event.audience === 'admin' && !isAdmin) return null
  // Not even admins see private events of other people.
  if (event.visible_to_user_id !== undefined && !isPerson(caller, event.visible_to_user_id)) return null
  if (!isAdmin && !event.agent_ids.every((id, index) => hasAccess(viewer, event, id, agents[index] ?? null)))
    return null
  return event.reserved === undefined || isAdmin || readsReserved(viewer, event) ? 'whole' : 'reduced'
}

export function seesEverything(caller: SignedIn): boolean {
  if (caller.kind === 'key' && caller.key.scope === 'system') return true
  return actsForPerson(caller) && caller.user.role === 'admin'
}

function hasAccess(viewer: Viewer, event: StoredEvent, id: string, agent: Agent | null): boolean {
  if (agent?.id === id) return relationOf(viewer.caller, agent, viewer.permitted) !== null
  return wasViewer(viewer.caller, event)
}

/** The last viewers of a deleted agent see its deletion and nothing else. */
function wasViewer(caller: SignedIn, { seen_by }: StoredEvent): boolean {
  if (!seen_by) return false
  if (!actsForPerson(caller)) {
    return caller.kind === 'key' && seen_by.agent_ids.some((id) => id === caller.key.agent_id)
  }
  const { id, email } = caller.user
  const shares = seen_by.emails.map((shared) => ({ email: shared }))
  return seen_by.user_ids.includes(id) || (email !== null && isSharedWith({ shares }, email))
}

function readsReserved({ caller }: Viewer, { reserved, agent_ids }: StoredEvent): boolean {
  if (!reserved) return true
  if (caller.kind === 'key' && caller.key.id === reserved.key_id) return true
  if (actsForPerson(caller)) return reserved.is_open || caller.user.id === reserved.user_id
  // An agent sees reserved fields only of itself, or of runs it started (checked above by key).
  return reserved.is_open && caller.kind === 'key' && agent_ids.every((id) => id === caller.key.agent_id)
}

function isPerson(caller: SignedIn, userId: string): boolean {
  return actsForPerson(caller) && caller.user.id === userId
}

/** Keys of narrower scopes have their owner's role, but not the owner's view. */
function actsForPerson(caller: SignedIn): boolean {
  return caller.kind === 'session' || caller.key.scope === 'user' || caller.key.scope === 'system'
}
