import type { Endpoint } from '@roost/contracts/kit/endpoint'
import type { Audit, AuditEntry } from '../foundation/audit/index.ts'
import type { Caller } from '../identity/access/caller.ts'
import type { Actor } from './route.ts'
import type { HandledRequest } from './serve.ts'
import type { SocketAttempt } from './sockets.ts'

const unrecorded = new Set(['postHeartbeat', 'validateKey'])

/**
 * Records a handled request: every write, every refused gate, reads that their endpoint marks, and every
 * other request with a key. Built here from endpoint and caller, so that no handler can forget it.
 */
export function recordCall(audit: Pick<Audit, 'record' | 'recordRead'>, request: HandledRequest): void {
  const { endpoint, caller } = request.roost
  if (!endpoint) return
  const refused = request.status === 401 || request.status === 403
  if (request.roost.isOmittedFromAudit && request.status < 400) return
  // Programs send these every few seconds.
  if (unrecorded.has(endpoint.id) && !refused) return
  const isOfKey = caller?.kind === 'key'
  // Requests of the platform's own processes are recorded by the features themselves.
  if (endpoint.access.who === 'internal' && !isOfKey && !refused) return
  const entry = auditEntryOf(request, endpoint, refused)
  if (entry) audit.record(entry)
  else if (isOfKey) audit.recordRead(entryOf(request, endpoint, { type: 'system', action: endpoint.id }))
}

/** Returns null for a read that is not audited. */
function auditEntryOf(request: HandledRequest, endpoint: Endpoint, refused: boolean): AuditEntry | null {
  const { notes } = request.roost
  // A read is audited if its endpoint says so, or if its handler noted that it shows another person's data.
  const isRead = endpoint.method === 'GET' && Object.keys(notes).length === 0
  const audited = endpoint.audit ?? (isRead ? null : { type: 'system' as const, action: endpoint.id })
  if (!audited && !refused) return null
  const type =
    refused && endpoint.access.who !== 'none' ? 'authorization' : (audited?.type ?? 'authorization')
  return entryOf(request, endpoint, { type, action: audited?.action ?? endpoint.id })
}

function entryOf(
  request: HandledRequest,
  endpoint: Endpoint,
  about: { type: AuditEntry['event_type']; action: string },
): AuditEntry {
  const { caller, actor, admitted, notes } = request.roost
  return {
    event_type: about.type,
    event_action: about.action,
    ...actorOf(caller, request.ip, actor),
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

/** Records a refused socket, a socket opened with a key, and a socket with an audit action. */
export function recordSocket(audit: Pick<Audit, 'record' | 'recordRead'>, socket: SocketAttempt): void {
  const { path, ip, caller, why, target } = socket
  const about = {
    event_action: socket.audit?.action ?? 'open_socket',
    ...actorOf(caller, ip),
    target_type: target?.type ?? null,
    target_id: target?.id.slice(0, 254) ?? null,
    request_id: null,
    source: 'api' as const,
    endpoint: `WS ${path}`,
  }
  if (why === null) {
    const opened = { ...about, details: {}, status: 101 }
    if (socket.audit) audit.record({ ...opened, event_type: socket.audit.type })
    else if (caller?.kind === 'key') audit.recordRead({ ...opened, event_type: 'system' })
    return
  }
  const status = statusOf(why)
  if (status !== 401 && status !== 403) return
  const details = 'close' in why ? { close: why.close, reason: why.reason } : { error: why.error }
  audit.record({ ...about, event_type: 'authorization', details, status })
}

function statusOf(why: NonNullable<SocketAttempt['why']>): number {
  if ('status' in why) return why.status
  return why.like ?? (why.close === 4003 ? 403 : 401)
}

/** Audit targets by path parameter or, if the path does not contain them, by note of the handler. */
const targets = [
  ['name', 'agent'],
  ['agent', 'agent'],
  ['username', 'user'],
  ['email', 'email_address'],
  ['provider', 'provider'],
  ['key_id', 'mcp_key'],
  ['key', 'setting'],
] as const

function targetOf({ params, roost: { endpoint, notes } }: HandledRequest) {
  // Changes to the caller's own account have no target; the details name the change.
  if (endpoint?.path.startsWith('/api/users/me/')) return { target_type: null, target_id: null }
  const isOfKey = endpoint?.path.startsWith('/api/mcp/keys/')
  const named: Record<string, unknown> = { ...notes, ...params, ...(isOfKey ? { key_id: params.id } : {}) }
  for (const [field, type] of targets) {
    const value = named[field]
    if (typeof value === 'string') return { target_type: type, target_id: value.slice(0, 254) }
  }
  return { target_type: null, target_id: null }
}

function actorOf(caller: Caller | null, ip: string, actor: Actor | null = null) {
  const key = caller?.kind === 'key' ? caller.key : null
  const user = caller && caller.kind !== 'anonymous' ? caller.user : actor
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
