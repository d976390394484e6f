import { z } from 'zod'
import { type Access, keyScopes, roles } from '../kit/access.ts'
import { endpoint } from '../kit/endpoint.ts'
import { Id, queryBoolean, Timestamp, TimestampInput } from '../kit/primitives.ts'

const tag = 'Keys'

/** Only people create and revoke keys, so agent keys and the system key are refused. */
const byPeople: Access = { who: 'any', refuses: ['agent', 'system'] }
const KeyParams = z.object({ id: z.string() })

const keyFields = {
  id: Id,
  name: z.string(),
  description: z.string().nullable(),
  scope: z.enum(keyScopes),
  key_prefix: z.string(),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
  is_active: z.boolean(),
  usage_count: z.number().int(),
  user_id: Id,
  username: z.string(),
}

/** Only the reply that creates a key contains its secret; `api_key` repeats `key`. */
export const NewKey = z.object({ ...keyFields, key: z.string(), api_key: z.string() })
export type NewKey = z.output<typeof NewKey>

export const McpKey = z.object({
  ...keyFields,
  last_used_at: Timestamp.nullable(),
  agent_name: z.string().nullable(),
  revoked_at: Timestamp.nullable(),
  user_email: z.string().nullable(),
})
export type McpKey = z.output<typeof McpKey>

export const CreateKey = z.object({
  name: z.string().trim().min(1).max(100),
  description: z.string().max(500).nullish(),
  /** Any text: an unknown scope has its own error. */
  scope: z.string().default('user'),
  expires_at: TimestampInput.nullish(),
})
export type CreateKey = z.output<typeof CreateKey>

export const createKey = endpoint({
  id: 'createKey',
  method: 'POST',
  path: '/api/mcp/keys',
  summary: 'Create a key',
  description:
    'Everyone may create keys of scope `user` (the default), which never expire. Only admins with a session may create `ops` and `portal_delegate` keys, with an optional expiry. The key is shown once.',
  tag,
  access: byPeople,
  body: CreateKey,
  returns: NewKey,
  fails: [
    'scope_not_allowed',
    'unknown_scope',
    'scope_not_requestable',
    'human_only',
    'admin_required',
    'rate_limited',
  ],
  audit: { type: 'credentials', action: 'create_key' },
})

export const listKeys = endpoint({
  id: 'listKeys',
  method: 'GET',
  path: '/api/mcp/keys',
  summary: 'List your keys; an admin gets all keys with `all=true`',
  tag,
  access: byPeople,
  query: z.object({ all: queryBoolean(false) }),
  returns: z.array(McpKey),
  fails: ['scope_not_allowed', 'admin_required'],
})

export const getKey = endpoint({
  id: 'getKey',
  method: 'GET',
  path: '/api/mcp/keys/{id}',
  summary: 'Get a key',
  tag,
  access: byPeople,
  params: KeyParams,
  returns: McpKey,
  fails: ['scope_not_allowed', 'key_not_found'],
})

export const revokeKey = endpoint({
  id: 'revokeKey',
  method: 'POST',
  path: '/api/mcp/keys/{id}/revoke',
  summary: 'Revoke a key; it stays listed',
  description: 'If it is the key of a connector, the runs that it has started end.',
  tag,
  access: byPeople,
  params: KeyParams,
  returns: z.object({ message: z.string(), id: Id, is_active: z.literal(false) }),
  fails: ['scope_not_allowed', 'key_not_found'],
  audit: { type: 'credentials', action: 'revoke_key' },
})

export const deleteKey = endpoint({
  id: 'deleteKey',
  method: 'DELETE',
  path: '/api/mcp/keys/{id}',
  summary: 'Delete a key permanently',
  description: 'If it is the key of a connector, the runs that it has started end.',
  tag,
  access: byPeople,
  params: KeyParams,
  returns: z.object({ message: z.string(), id: Id }),
  fails: ['scope_not_allowed', 'key_not_found'],
  audit: { type: 'credentials', action: 'delete_key' },
})

export const ensureDefaultKey = endpoint({
  id: 'ensureDefaultKey',
  method: 'POST',
  path: '/api/mcp/keys/ensure-default',
  summary: 'Create a first key named "Default" for a caller without keys',
  description:
    '`key` is null if the caller already has a `user` key; `id` and `name` are then those of that key.',
  tag,
  access: { who: 'any', gate: 'human' },
  returns: z.object({ id: Id, name: z.string(), key: z.string().nullable() }),
  fails: ['conflict', 'rate_limited'],
  audit: { type: 'credentials', action: 'ensure_default_key' },
})

export const validateKey = endpoint({
  id: 'validateKey',
  method: 'POST',
  path: '/api/mcp/validate',
  summary: 'Validate the key of the call',
  tag,
  access: { who: 'any', gate: 'key', scopes: ['connector'], guests: true },
  returns: z.object({
    valid: z.literal(true),
    key_id: Id,
    key_name: z.string(),
    scope: z.enum(keyScopes),
    user_id: Id,
    user_email: z.string().nullable(),
    role: z.enum(roles),
    agent_name: z.string().nullable(),
  }),
})
