import type { Access } from '@roost/contracts/kit/access'
import type { ErrorCode } from '@roost/contracts/kit/errors'
import { anonymous, type Caller, type Relation } from '../identity/access/caller.ts'
import { Fault } from '../kit/fault.ts'
import type { ReachedAgent } from './route.ts'

export type Admitted = { caller: Caller; agent: ReachedAgent | null; relation: Relation | null }

export type GuardDeps = {
  /** Null header: no credential was sent. Throws `not_authenticated`, `invalid_token`, `account_suspended`. */
  identify(authorization: string | undefined, options?: { admitsLeft?: boolean }): Promise<Caller>
  /** Null: no such agent, or none that this caller can reach. */
  agentAccess(caller: Caller, agentName: string): Promise<{ agent: ReachedAgent; relation: Relation } | null>
  /** Rules that need no look-up: credential, scope fence, gate, admin. Null admits. */
  refuseBefore(caller: Caller, access: Access): ErrorCode | null
  /** Rules about the agent that was reached, and the role. Null admits. */
  refuseAfter(caller: Caller, access: Access, relation: Relation | null): ErrorCode | null
}

export type Guard = (
  access: Access,
  authorization: string | undefined,
  agentName: string | undefined,
  seen: (caller: Caller) => void,
) => Promise<Admitted>

/**
 * Decides whether a call may pass, in the fixed order: credential (401), scope fence and gate (403),
 * existence and reach of the agent (404), relation to it and role (403). The body is read after that.
 * Anything unexpected refuses: a route without a rule does not exist.
 */
export function createGuard(deps: GuardDeps): Guard {
  return async (access, authorization, agentName, seen) => {
    if (access.who === 'none' || access.who === 'internal') {
      return { caller: anonymous, agent: null, relation: null }
    }
    // The feature itself knows its tokens, and refuses what is none.
    if (access.who === 'workspace' && isWorkspaceToken(authorization)) {
      return { caller: anonymous, agent: null, relation: null }
    }
    const caller = await deps.identify(authorization, access)
    seen(caller)
    const before = deps.refuseBefore(caller, access)
    if (before) throw new Fault(before)
    const aboutAgent = access.who === 'access' || access.who === 'owner' || access.who === 'agent'
    if (!aboutAgent) {
      const after = deps.refuseAfter(caller, access, null)
      if (after) throw new Fault(after)
      return { caller, agent: null, relation: null }
    }
    const reached =
      agentName === undefined ? null : await deps.agentAccess(caller, agentName).catch(named(access))
    if (!reached)
      throw new Fault('agent_not_found', `There is no agent named "${agentName?.slice(0, 80) ?? ''}".`)
    const after = deps.refuseAfter(caller, access, reached.relation)
    if (after) throw new Fault(after)
    return { caller, agent: reached.agent, relation: reached.relation }
  }
}

/** No key and no session looks like one: keys are longer, sessions have dots. */
export function isWorkspaceToken(authorization: string | undefined): authorization is string {
  return authorization !== undefined && /^bearer +[A-Za-z0-9_-]{43}$/i.test(authorization)
}

/** What only the agent itself may do is no question of permissions between agents. */
function named(access: Access): (error: unknown) => never {
  return (error) => {
    const isOther = error instanceof Fault && error.code === 'agent_not_permitted'
    throw isOther && access.who === 'agent' ? new Fault('agent_identity_required') : error
  }
}
