import { type Access, fencedScopes, type KeyScope, type Role, roles } from '@roost/contracts/kit/access'
import type { ErrorCode } from '@roost/contracts/kit/errors'
import type { Caller, Relation, SignedIn } from './caller.ts'

export type Verdict = { allow: true } | { refuse: ErrorCode }

/**
 * Whether the caller may use an endpoint. The order of the checks is part of the contract, because the
 * first that fails is the answer: credential, scope fence, gate, reach of the agent, relation to it, role.
 * `relation` is null when the agent does not exist or cannot be reached, and for endpoints about no agent.
 */
export function may(caller: Caller, access: Access, relation: Relation | null): Verdict {
  const refuse = refuseBefore(caller, access) ?? refuseAfter(caller, access, relation)
  return refuse ? { refuse } : { allow: true }
}

/** The checks that need no look-up: credential, scope fence, gate. Null admits. */
export function refuseBefore(caller: Caller, access: Access): ErrorCode | null {
  if (isOpen(access)) return null
  if (caller.kind === 'anonymous') return 'not_authenticated'
  return refuseAtFence(caller, access) ?? refuseAtGate(caller, access)
}

/** The checks after the agent was looked for: its reach, the relation to it, the role. Null admits. */
export function refuseAfter(caller: Caller, access: Access, relation: Relation | null): ErrorCode | null {
  if (isOpen(access)) return null
  if (caller.kind === 'anonymous') return 'not_authenticated'
  return refuseByRelation(caller, access, relation) ?? refuseByRole(caller, access)
}

/** Roles stand in one order; a higher one may whatever a lower one may. */
export function roleAtLeast(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least)
}

function isOpen(access: Access): boolean {
  return access.who === 'none' || access.who === 'internal'
}

function refuseAtFence(caller: SignedIn, access: Access): ErrorCode | null {
  if (caller.kind === 'session') return null
  const { scope } = caller.key
  const listed: readonly KeyScope[] = access.scopes ?? []
  if (isFenced(scope) && !listed.includes(scope)) return 'scope_not_allowed'
  // Where a gate stands too, the gate's own code is the more telling answer.
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

function refuseByRelation(caller: SignedIn, access: Access, relation: Relation | null): ErrorCode | null {
  switch (access.who) {
    case 'access':
      return relation ? null : 'agent_not_found'
    case 'owner':
      if (!relation) return 'agent_not_found'
      return countsAsOwner(caller, access, relation) ? null : 'owner_required'
    case 'agent':
      if (!relation) return 'agent_not_found'
      return relation === 'self' ? null : 'agent_identity_required'
    case 'any':
    case 'admin':
    case 'workspace':
    case 'none':
    case 'internal':
      return null
  }
}

/** An agent key carries its owner's role, but never acts as the owner of anything but its own agent. */
function countsAsOwner(caller: SignedIn, access: Access, relation: Relation): boolean {
  const scope = scopeOf(caller)
  if (scope === 'agent') return relation === 'self' && !access.gate
  return actsForPerson(scope) && (relation === 'owner' || relation === 'admin')
}

function refuseByRole(caller: SignedIn, access: Access): ErrorCode | null {
  if (access.who === 'admin' && !passesAdminGate(caller, access)) return 'admin_required'
  return access.role && !roleAtLeast(caller.user.role, access.role) ? 'role_required' : null
}

/** An allow-list over scopes, so that a scope added later is refused; `ops` where the endpoint says so. */
function passesAdminGate(caller: SignedIn, access: Access): boolean {
  const scope = scopeOf(caller)
  const admitted = actsForPerson(scope) || (scope === 'ops' && (access.scopes?.includes('ops') ?? false))
  return admitted && caller.user.role === 'admin'
}

/** Null stands for a session. */
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
