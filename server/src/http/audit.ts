import type { AuditEntry } from '../foundation/audit/index.ts'
import type { Caller } from '../identity/access/caller.ts'
import type { AnsweredRequest } from './serve.ts'
import type { RefusedSocket } from './sockets.ts'

const quiet = new Set(['postHeartbeat', 'validateKey'])

/**
 * The entry of an answered call, or null when none is due: every write and every refused gate has one, and
 * reads that their endpoint marks. It is made here from the endpoint and the caller so that no handler can
 * forget it.
 */
export function auditEntryOf(request: AnsweredRequest): AuditEntry | null {
  const { endpoint, caller, admitted, notes } = request.roost
  if (!endpoint || endpoint.access.who === 'internal') return null
  const refused = request.status === 401 || request.status === 403
  // A read is told of by its endpoint, or by the handler that saw somebody read what is another person's.
  const isRead = endpoint.method === 'GET' && Object.keys(notes).length === 0
  const audited = endpoint.audit ?? (isRead ? null : { type: 'system' as const, action: endpoint.id })
  if (!audited && !refused) return null
  // What a program asks every few seconds tells nothing.
  if (quiet.has(endpoint.id) && !refused) return null
  const type =
    refused && endpoint.access.who !== 'none' ? 'authorization' : (audited?.type ?? 'authorization')
  return {
    event_type: type,
    event_action: audited?.action ?? endpoint.id,
    ...actorOf(caller, request.ip),
    ...targetOf(request),
    details: {
      ...notes,
      ...(request.errorCode ? { error: request.errorCode } : {}),
      ...(admitted?.relation ? { relation: admitted.relation } : {}),
    },
    request_id: request.id,
    source: 'api',
    endpoint: `${endpoint.method} ${endpoint.path}`,
    status: request.status,
  }
}

/** The entry of a socket that was not opened for who asked; null when nobody was refused. */
export function socketEntryOf({ path, ip, caller, why }: RefusedSocket): AuditEntry | null {
  const status = 'status' in why ? why.status : why.close === 4003 ? 403 : 401
  if (status !== 401 && status !== 403) return null
  return {
    event_type: 'authorization',
    event_action: 'open_socket',
    ...actorOf(caller, ip),
    target_type: null,
    target_id: null,
    details: 'close' in why ? { close: why.close, reason: why.reason } : { error: why.error },
    request_id: null,
    source: 'api',
    endpoint: `WS ${path}`,
    status,
  }
}

/** What a parameter of the path names, and a note of the handler where the path cannot know it yet. */
const targets = [
  ['name', 'agent'],
  ['agent', 'agent'],
  ['username', 'user'],
  ['email', 'email_address'],
  ['provider', 'provider'],
  ['key_id', 'mcp_key'],
  ['key', 'setting'],
] as const

function targetOf({ params, roost: { endpoint, notes } }: AnsweredRequest) {
  // What people keep in their own account is about nobody else; the details name it.
  if (endpoint?.path.startsWith('/api/users/me/')) return { target_type: null, target_id: null }
  const isOfKey = endpoint?.path.startsWith('/api/mcp/keys/')
  const named: Record<string, unknown> = { ...notes, ...params, ...(isOfKey ? { key_id: params.id } : {}) }
  for (const [field, type] of targets) {
    const value = named[field]
    if (typeof value === 'string') return { target_type: type, target_id: value.slice(0, 254) }
  }
  return { target_type: null, target_id: null }
}

function actorOf(caller: Caller | null, ip: string) {
  const key = caller?.kind === 'key' ? caller.key : null
  const user = caller && caller.kind !== 'anonymous' ? caller.user : null
  const type = !user
    ? 'anonymous'
    : !key
      ? 'user'
      : key.scope === 'agent'
        ? 'agent'
        : key.scope === 'system'
          ? 'system'
          : 'mcp_client'
  return {
    actor_type: type as AuditEntry['actor_type'],
    actor_id: user?.id ?? null,
    actor_email: user?.email ?? null,
    actor_ip: ip,
    mcp_key_id: key?.id ?? null,
    mcp_key_name: key?.name ?? null,
    mcp_scope: key?.scope ?? null,
  }
}
