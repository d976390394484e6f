import { type KeyScope, keyScopes } from '@roost/contracts/kit/access'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { SignedIn } from '../access/caller.ts'

export type RequestableScope = 'user' | 'ops' | 'portal_delegate'

/** The routes that mint the other scopes. */
const mintedElsewhere: Record<Exclude<KeyScope, RequestableScope>, { route: string; sentence: string }> = {
  agent: {
    route: 'POST /api/agents/{name}/mcp-key/regenerate',
    sentence:
      'An agent key is minted with its agent; POST /api/agents/{name}/mcp-key/regenerate makes a new one.',
  },
  connector: {
    route: 'POST /api/agents/{name}/connector/key',
    sentence: 'A connector key is minted by POST /api/agents/{name}/connector/key.',
  },
  system: {
    route: 'POST /api/system-agent/reinitialize',
    sentence:
      'The system key is minted with the system agent; POST /api/system-agent/reinitialize makes it anew.',
  },
}

/**
 * Returns the requested scope if this caller may mint it. Throws `unknown_scope`, `scope_not_requestable`
 * with the route that mints it, `human_only`, `admin_required`, and 422 for an invalid expiry time.
 */
export function requestableScope(
  caller: SignedIn,
  request: { scope: string; expires_at?: string | null },
  now: Date,
): RequestableScope {
  const scope = keyScopes.find((known) => known === request.scope)
  if (!scope) {
    throw new Fault('unknown_scope', `There is no key scope "${request.scope.slice(0, 40)}".`)
  }
  if (scope === 'agent' || scope === 'connector' || scope === 'system') {
    const { route, sentence } = mintedElsewhere[scope]
    throw new Fault('scope_not_requestable', sentence, { route })
  }
  if (scope !== 'user') {
    if (caller.kind === 'key') throw new Fault('human_only')
    if (caller.user.role !== 'admin') throw new Fault('admin_required')
  }
  const expiresAt = request.expires_at ?? null
  if (expiresAt !== null && scope === 'user') throw invalidField(['expires_at'], 'a user key does not expire')
  if (expiresAt !== null && new Date(expiresAt) <= now)
    throw invalidField(['expires_at'], 'must be in the future')
  return scope
}

export type KeyState = {
  scope: KeyScope
  revoked_at: string | null
  expires_at: string | null
  owner: { role: string; suspended_at: string | null } | null
}

/** True if the key works now. A key stops when its owner loses the rights that it needs. */
export function works(key: KeyState, now: Date): boolean {
  if (!isActive(key, now) || !key.owner || key.owner.suspended_at !== null) return false
  const needsAdmin = key.scope === 'ops' || key.scope === 'portal_delegate'
  return !needsAdmin || key.owner.role === 'admin'
}

/** True if the key is neither revoked nor expired. The owner's rights are checked by `works`. */
export function isActive(key: { revoked_at: string | null; expires_at: string | null }, now: Date): boolean {
  return key.revoked_at === null && (key.expires_at === null || now < new Date(key.expires_at))
}
