import { isSharedWith, relationOf } from '../../agents/access/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import type { StoredEvent } from '../../foundation/outbox/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'

export type Viewer = {
  caller: SignedIn
  /** Ids of the agents that the caller, when it is an agent, may call. */
  permitted: ReadonlySet<string>
}

/** `reduced`: without the event's reserved fields. Null: not at all. */
export type Shown = 'whole' | 'reduced' | null

/**
 * What a viewer sees of an event now, when it is delivered or sent again. `agents` are those that the event
 * names, as they are now and in its order; null for one that is gone.
 */
export function shownTo(viewer: Viewer, event: StoredEvent, agents: readonly (Agent | null)[]): Shown {
  const { caller } = viewer
  const isAdmin = seesEverything(caller)
  if (event.audience === 'admin' && !isAdmin) return null
  // Only the one it is for: not even admins are told that somebody else's answer is there.
  if (event.visible_to_user_id !== undefined && !isPerson(caller, event.visible_to_user_id)) return null
  if (!isAdmin && !event.agent_ids.every((id, index) => isInReach(viewer, event, id, agents[index] ?? null)))
    return null
  return event.reserved === undefined || isAdmin || readsReserved(viewer, event) ? 'whole' : 'reduced'
}

export function seesEverything(caller: SignedIn): boolean {
  if (caller.kind === 'key' && caller.key.scope === 'system') return true
  return actsForPerson(caller) && caller.user.role === 'admin'
}

function isInReach(viewer: Viewer, event: StoredEvent, id: string, agent: Agent | null): boolean {
  if (agent?.id === id) return relationOf(viewer.caller, agent, viewer.permitted) !== null
  return couldSee(viewer.caller, event)
}

/** The agent is gone: whoever saw it last sees that it went, and nothing else of it. */
function couldSee(caller: SignedIn, { seen_by }: StoredEvent): boolean {
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
  // Another agent's runs are its own affair, those apart that the caller started there.
  return reserved.is_open && caller.kind === 'key' && agent_ids.every((id) => id === caller.key.agent_id)
}

function isPerson(caller: SignedIn, userId: string): boolean {
  return actsForPerson(caller) && caller.user.id === userId
}

/** Keys of narrower scopes carry their owner's role and do not see as the owner. */
function actsForPerson(caller: SignedIn): boolean {
  return caller.kind === 'session' || caller.key.scope === 'user' || caller.key.scope === 'system'
}
