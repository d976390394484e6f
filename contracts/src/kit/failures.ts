import { z } from 'zod'
import { type Access, fencedScopes } from './access.ts'
import { type Endpoint, isStrict, isUnparsed } from './endpoint.ts'
import type { ErrorCode } from './errors.ts'
import { defaultBodyLimit } from './primitives.ts'

/**
 * Returns every error of an endpoint: those that follow from its value, then its own `fails`. The documentation lists
 * them. In tests the server rejects a reply with any other error.
 */
export function failuresOf(endpoint: Endpoint): ErrorCode[] {
  const own = endpoint.fails ?? []
  return [...new Set([...generalFailures(endpoint), ...own])]
}

/** Returns the errors that follow from the endpoint's value alone. */
export function generalFailures(endpoint: Endpoint): ErrorCode[] {
  return [
    ...accessFailures(endpoint.access),
    ...pathFailures(endpoint.params),
    ...requestFailures(endpoint),
    ...platformFailures,
  ]
}

/** Errors of every endpoint. */
export const platformFailures = [
  'internal_error',
  'store_unavailable',
  'ephemeral_unavailable',
  'store_full',
] as const satisfies readonly ErrorCode[]

/** Returns the refusals of the guard; `checks/access/failures.test.ts` compares them with the guard. */
export function accessFailures(access: Access): ErrorCode[] {
  const { who, gate, role, scopes = [], refuses = [] } = access
  if (who === 'none') return []
  if (who === 'internal') {
    const ofRuns = access.alsoAdmits === 'agent' ? (['run_key_ended'] as const) : []
    return ['not_authenticated', 'invalid_token', ...ofRuns, 'foreign_request']
  }
  const codes: ErrorCode[] = ['not_authenticated', 'invalid_token', 'run_key_ended']
  if (who === 'workspace') codes.push('session_expired')
  const isFenced = fencedScopes.some((scope) => !scopes.includes(scope))
  if (isFenced || (!gate && refuses.length > 0)) codes.push('scope_not_allowed')
  if (gate === 'human') codes.push('human_only')
  if (gate === 'person') codes.push('person_required')
  if (who === 'agent') codes.push('agent_identity_required')
  if (who === 'access' || who === 'owner' || who === 'agent') codes.push('agent_not_found')
  const admitsAgents = (!gate || gate === 'key') && !refuses.includes('agent')
  if (admitsAgents && (who === 'access' || who === 'owner')) codes.push('agent_not_permitted')
  if (admitsAgents && !access.guests && !refuses.includes('run')) codes.push('principal_not_allowed')
  if (who === 'owner') codes.push('owner_required')
  if (who === 'admin') codes.push('admin_required')
  if (role) codes.push('role_required')
  if (access.writesWorkspace) codes.push('workspace_read_only')
  return codes
}

/** A path that cannot be decoded is 404. A parameter with its own rule can fail validation. */
function pathFailures(params: z.ZodType | undefined): ErrorCode[] {
  if (!(params instanceof z.ZodObject)) return []
  const hasRule = Object.values(params.shape).some((field) => !isAnyText(field))
  return hasRule ? ['not_found', 'validation_error'] : ['not_found']
}

function isAnyText(field: unknown): boolean {
  return field instanceof z.ZodString && !field.def.checks?.length
}

function requestFailures(endpoint: Endpoint): ErrorCode[] {
  const { method, query, body, bodyKind, bodyLimit = 0, rawJson, headers = [] } = endpoint
  const codes: ErrorCode[] = []
  const isRead = method === 'GET'
  // The framework reads the body of every call, even if the endpoint has none.
  if (!isRead) codes.push('body_too_large', 'unsupported_media_type')
  // Large bodies that arrive together are limited.
  if (bodyLimit > defaultBodyLimit && bodyKind !== 'stream') codes.push('rate_limited')
  const isJson = rawJson || (!isUnparsed(endpoint) && bodyKind !== 'form' && (body || isStrict(endpoint)))
  if (isJson) codes.push('invalid_json')
  if (query || isJson || (body && bodyKind === 'form') || isStrict(endpoint)) codes.push('validation_error')
  if (bodyKind === 'stream') codes.push('request_timeout')
  if (headers.includes('Idempotency-Key')) codes.push('request_in_progress')
  return codes
}
