import { type Access, fencedScopes, type KeyScope, type Role, roles } from '@roost/contracts/kit/access'
import type { ErrorCode } from '@roost/contracts/kit/errors'
import type { Caller, Relation, SignedIn } from './caller.ts'

export type Verdict = { allow: true } | { refuse: ErrorCode }

/**
 * Decides whether the caller may use an endpoint. The first failing check is the response: credential, scope
 * fence, gate, visibility of the agent, relation to it, role. `relation` is null for an agent that does not
 * exist or is not visible, and for endpoints without an agent.
 */
export function may(caller: Caller, access: Access, relation: Relation | null): Verdict {
  const refuse = refuseBefore(caller, access) ?? refuseAfter(caller, access, relation)
  return refuse ? { refuse } : { allow: true }
}

/** The checks that need no lookup: credential, scope fence, gate. Null means allowed. */
export function refuseBefore(caller: Caller, access: Access): ErrorCode | null {
  if (isOpen(access)) return null
  if (caller.kind === 'anonymous') return 'not_authenticated'
  return refuseAtFence(caller, access) ?? refuseAtGate(caller, access) ?? refuseRun(caller, access)
}

/** The checks after the agent lookup: visibility, relation, role. Null means allowed. */
export function refuseAfter(caller: Caller, access: Access, relation: Relation | null): ErrorCode | null {
  if (isOpen(access)) return null
  if (caller.kind === 'anonymous') return 'not_authenticated'
  if (relation === 'guest' && !access.guests) return 'principal_not_allowed'
  return refuseByRelation(caller, access, relation) ?? refuseByRole(caller, access)
}

/** Roles are ordered; each includes the rights of the lower ones. */
export function roleAtLeast(role: Role, minimum: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(minimum)
}

function isOpen(access: Access): boolean {
  return access.who === 'none' || access.who === 'internal'
}

function refuseAtFence(caller: SignedIn, access: Access): ErrorCode | null {
  if (caller.kind === 'session') return null
  const { scope } = caller.key
  const listed: readonly KeyScope[] = access.scopes ?? []
  if (isFenced(scope) && !listed.includes(scope)) return 'scope_not_allowed'
  // With a gate, the gate's own error code is more specific.
  return !access.gate && access.refuses?.includes(scope) ? 'scope_not_allowed' : null
}

function refuseAtGate(caller: SignedIn, access: Access): ErrorCode | null {
  const scope = scopeOf(caller)
  if (access.gate === 'human' && scope !== null) return 'human_only'
  if (access.gate === 'key' && scope === null) return 'invalid_token'
  if (access.gate === 'person' && !(actsForPerson(scope) && !isRefused(scope, access)))
    return 'person_required'
  if (access.who === 'agent' && scope !== 'agent') return 'agent_identity_required'
  return null
}

/** An allow list, so that endpoints added later are refused to guests. */
function refuseRun(caller: SignedIn, access: Access): ErrorCode | null {
  if (caller.kind !== 'key' || !caller.run) return null
  if (access.refuses?.includes('run')) return 'scope_not_allowed'
  return caller.run.reach === 'guest' && !access.guests ? 'principal_not_allowed' : null
}

function refuseByRelation(caller: SignedIn, access: Access, relation: Relation | null): ErrorCode | null {
  switch (access.who) {
    case 'access':
      return relation ? null : 'agent_not_found'
    case 'owner':
      if (!relation) return 'agent_not_found'
      return countsAsOwner(caller, access, relation) ? null : 'owner_required'
    case 'agent':
      if (!relation) return 'agent_not_found'
      return relation === 'self' || isSharedRun(caller, relation) ? null : 'agent_identity_required'
    case 'any':
    case 'admin':
    case 'workspace':
    case 'none':
    case 'internal':
      return null
  }
}

/** A turn acts as its agent, for example when it asks a person, also for somebody who shares the agent. */
function isSharedRun(caller: SignedIn, relation: Relation): boolean {
  return caller.kind === 'key' && caller.run?.reach === 'shared' && relation === 'shared'
}

/** An agent key has its owner's role, but acts as the owner of its own agent only. */
function countsAsOwner(caller: SignedIn, access: Access, relation: Relation): boolean {
  const scope = scopeOf(caller)
  if (scope === 'agent') return relation === 'self' && !access.gate
  return actsForPerson(scope) && (relation === 'owner' || relation === 'admin')
}

function refuseByRole(caller: SignedIn, access: Access): ErrorCode | null {
  if (access.who === 'admin' && !passesAdminGate(caller, access)) return 'admin_required'
  return access.role && !roleAtLeast(caller.user.role, access.role) ? 'role_required' : null
}

/** An allow list of scopes, so that scopes added later are refused. `ops` passes where the endpoint lists it. */
function passesAdminGate(caller: SignedIn, access: Access): boolean {
  const scope = scopeOf(caller)
  const admitted = actsForPerson(scope) || (scope === 'ops' && (access.scopes?.includes('ops') ?? false))
  return admitted && caller.user.role === 'admin'
}

/** Null for a session. */
function scopeOf(caller: SignedIn): KeyScope | null {
  return caller.kind === 'key' ? caller.key.scope : null
}

function actsForPerson(scope: KeyScope | null): boolean {
  return scope === null || scope === 'user' || scope === 'system'
}

function isRefused(scope: KeyScope | null, access: Access): boolean {
  return scope !== null && (access.refuses?.includes(scope) ?? false)
}

function isFenced(scope: KeyScope): boolean {
  return fencedScopes.some((fenced) => fenced === scope)
}
