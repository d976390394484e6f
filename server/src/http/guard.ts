import type { Access } from '@roost/contracts/kit/access'
import type { ErrorCode } from '@roost/contracts/kit/errors'
import { anonymous, type Caller, type Relation } from '../identity/access/caller.ts'
import { Fault } from '../kit/fault.ts'
import type { InternalCredentials } from './internal-credentials.ts'
import type { RouteAgent } from './route.ts'

export type Admitted = {
  caller: Caller
  agent: RouteAgent | null
  relation: Relation | null
  /** True for one of the platform's own processes, which has no other identity. */
  isPlatform?: boolean
}

export type GuardDeps = {
  /** Undefined: no credential. Throws `not_authenticated`, `invalid_token`, `account_suspended`. */
  identify(authorization: string | undefined, options?: { acceptsLoggedOut?: boolean }): Promise<Caller>
  /** Returns null if the agent does not exist or is not visible to the caller. */
  agentAccess(
    caller: Caller,
    agentName: string,
  ): Promise<{ agent: RouteAgent; relation: Relation; mayWrite: boolean } | null>
  /** Absent: internal endpoints admit nobody. */
  internal?: InternalCredentials
  /** The rules that need no lookup: credential, scope fence, gate. Null means allowed. */
  refuseBefore(caller: Caller, access: Access): ErrorCode | null
  /** The rules about the relation to the agent, and the role. Null means allowed. */
  refuseAfter(caller: Caller, access: Access, relation: Relation | null): ErrorCode | null
}

export type Guard = (
  access: Access,
  authorization: string | undefined,
  agentName: string | undefined,
  onIdentified: (caller: Caller) => void,
) => Promise<Admitted>

/**
 * Authorizes a request in a fixed order: credential (401), scope fence and gate (403), visibility of the agent
 * (404), relation and role (403). The body is read afterwards. Anything unexpected is refused.
 */
export function createGuard(deps: GuardDeps): Guard {
  return async (access, authorization, agentName, onIdentified) => {
    if (access.who === 'none') return { caller: anonymous, agent: null, relation: null }
    if (access.who === 'internal') return admitInternal(deps, access, authorization, onIdentified)
    // The feature itself checks its tokens.
    if (access.who === 'workspace' && isWorkspaceToken(authorization)) {
      return { caller: anonymous, agent: null, relation: null }
    }
    const caller = await deps.identify(authorization, access)
    onIdentified(caller)
    const before = deps.refuseBefore(caller, access)
    if (before) throw new Fault(before)
    const aboutAgent = access.who === 'access' || access.who === 'owner' || access.who === 'agent'
    if (!aboutAgent) {
      const after = deps.refuseAfter(caller, access, null)
      if (after) throw new Fault(after)
      return { caller, agent: null, relation: null }
    }
    const resolved =
      agentName === undefined ? null : await deps.agentAccess(caller, agentName).catch(refusalFor(access))
    if (!resolved)
      throw new Fault('agent_not_found', `There is no agent named "${agentName?.slice(0, 80) ?? ''}".`)
    const after = deps.refuseAfter(caller, access, resolved.relation)
    if (after) throw new Fault(after)
    if (access.writesWorkspace && !resolved.mayWrite) throw new Fault('workspace_read_only')
    return { caller, agent: resolved.agent, relation: resolved.relation }
  }
}

/** An address proves nothing here: other local programs and forwarded agents arrive from loopback too. */
async function admitInternal(
  { internal, identify }: Pick<GuardDeps, 'internal' | 'identify'>,
  { alsoAdmits }: Access,
  authorization: string | undefined,
  onIdentified: (caller: Caller) => void,
): Promise<Admitted> {
  const unidentified = { caller: anonymous, agent: null, relation: null }
  if (internal?.isPlatform(authorization)) return { ...unidentified, isPlatform: true }
  if (alsoAdmits === 'metrics_token' && internal?.isMetricsReader(authorization)) return unidentified
  if (authorization === undefined) throw new Fault('not_authenticated')
  if (alsoAdmits !== 'agent') throw new Fault('invalid_token')
  const caller = await identify(authorization)
  onIdentified(caller)
  return { ...unidentified, caller }
}

/** Distinct from keys, which are longer, and from session tokens, which contain dots. */
export function isWorkspaceToken(authorization: string | undefined): authorization is string {
  return authorization !== undefined && /^bearer +[A-Za-z0-9_-]{43}$/i.test(authorization)
}

/** On routes for the agent itself, permissions between agents do not apply, so the error changes. */
function refusalFor(access: Access): (error: unknown) => never {
  return (error) => {
    const isOther = error instanceof Fault && error.code === 'agent_not_permitted'
    throw isOther && access.who === 'agent' ? new Fault('agent_identity_required') : error
  }
}
