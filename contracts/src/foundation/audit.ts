import { z } from 'zod'
import { keyScopes } from '../kit/access.ts'
import { auditTypes, endpoint } from '../kit/endpoint.ts'
import { inQuery } from '../kit/in-query.ts'
import { queryBoolean, queryInteger, Timestamp, TimestampInput } from '../kit/primitives.ts'

const tag = 'Audit log'
const admin = { who: 'admin' } as const
const count = z.number().int()

export const auditActorTypes = ['user', 'agent', 'mcp_client', 'system', 'anonymous'] as const
export type AuditActorType = (typeof auditActorTypes)[number]
export const auditSources = ['api', 'mcp', 'scheduler', 'system'] as const
export type AuditSource = (typeof auditSources)[number]
/** `refused`: 401 or 403. `failed`: another error. `ok`: the rest, including entries without a status. */
export const auditOutcomes = ['ok', 'refused', 'failed'] as const
export type AuditOutcome = (typeof auditOutcomes)[number]

/** Every open page creates a ticket again and again, so these entries would hide the others. */
export const routineAuditAction = 'create_socket_ticket'

/** Filters with fixed values; any other value is 422 `unknown_filter`. */
export const auditFilterValues = {
  event_type: auditTypes,
  actor_type: auditActorTypes,
  source: auditSources,
  mcp_scope: keyScopes,
  outcome: auditOutcomes,
} as const satisfies Record<string, readonly string[]>

export const AuditLogEntry = z
  .object({
    id: count.describe('Number of the entry in the chain; numbers have no gaps.'),
    event_id: z.string(),
    event_type: z.enum(auditTypes),
    event_action: z.string(),
    actor_type: z.enum(auditActorTypes),
    actor_id: z.string().nullable().describe('The account, or the owner of the key.'),
    actor_email: z.string().nullable(),
    actor_ip: z.string().nullable(),
    mcp_key_id: z.string().nullable(),
    mcp_key_name: z.string().nullable(),
    mcp_scope: z.string().nullable(),
    target_type: z.string().nullable(),
    target_id: z.string().nullable(),
    timestamp: Timestamp,
    details: z.record(z.string(), z.unknown()).describe('Names, never secret values.'),
    request_id: z.string().nullable(),
    source: z.enum(auditSources),
    endpoint: z.string().nullable(),
    status: count.nullable(),
    previous_hash: z.string().nullable().describe('Hash of the previous entry; null for the first one.'),
    entry_hash: z.string().describe('SHA-256 of all the other fields.'),
  })
  .meta({ id: 'AuditLogEntry' })
export type AuditLogEntry = z.output<typeof AuditLogEntry>

const window = {
  start_time: TimestampInput.optional().describe('Entries at or after this time.'),
  end_time: TimestampInput.optional().describe('Entries at or before this time.'),
}
const routine = queryBoolean(true).describe(
  `\`false\` leaves out entries about tickets for live sockets (\`${routineAuditAction}\`) that were not refused.`,
)
const oneOf = (values: readonly string[]) =>
  z
    .string()
    .max(50)
    .optional()
    .describe(`One of ${values.map((value) => `\`${value}\``).join(', ')}.`)
const exactly = z.string().max(500).optional()

export const listAuditLog = endpoint({
  id: 'listAuditLog',
  method: 'GET',
  path: '/api/audit-log',
  summary: 'List audit entries, newest first',
  description:
    'Every write, every refused call and every sign-in is one entry. All filters must match; `total` and `X-Total-Count` have the number of matches.',
  tag,
  access: admin,
  query: z.object({
    event_type: oneOf(auditFilterValues.event_type),
    event_action: exactly,
    actor_type: oneOf(auditFilterValues.actor_type),
    actor_id: exactly,
    target_type: exactly,
    target_id: exactly,
    source: oneOf(auditFilterValues.source),
    ...window,
    request_id: exactly,
    mcp_key_id: exactly,
    mcp_scope: oneOf(auditFilterValues.mcp_scope),
    outcome: oneOf(auditFilterValues.outcome),
    routine,
    limit: queryInteger(1, 1_000, 100),
    offset: queryInteger(0, 999_999_999, 0),
  }),
  returns: z.object({ entries: z.array(AuditLogEntry), total: count, limit: count, offset: count }),
  replyHeaders: ['X-Total-Count'],
  fails: ['unknown_filter'],
})

export const AuditLogStats = z.object({
  total: count,
  by_event_type: z.record(z.string(), count).describe('Only values that occur.'),
  by_actor_type: z.record(z.string(), count).describe('Only values that occur.'),
  by_source: z.record(z.string(), count).describe('Only values that occur.'),
  by_day: z
    .array(z.object({ date: z.string().describe('`YYYY-MM-DD`, UTC.'), count }))
    .describe('Days with entries, oldest first.'),
})
export type AuditLogStats = z.output<typeof AuditLogStats>

export const getAuditLogStats = endpoint({
  id: 'getAuditLogStats',
  method: 'GET',
  path: '/api/audit-log/stats',
  summary: 'Count entries by type, actor, source and day',
  tag,
  access: admin,
  query: z.object({ ...window, routine }),
  returns: AuditLogStats,
})

export const exportAuditLog = endpoint({
  id: 'exportAuditLog',
  method: 'GET',
  path: '/api/audit-log/export',
  summary: 'Export the entries of a period as a file, oldest first',
  description:
    '`json` is an array of entries. `csv` has a header line and one line for each entry, with `details` as JSON. Text that a spreadsheet would read as a formula starts with an apostrophe.',
  tag,
  access: admin,
  query: z.object({ ...window, format: z.enum(['json', 'csv']).default('json') }),
  returns: z.array(AuditLogEntry),
  streams: ['text/csv'],
  replyHeaders: ['Content-Disposition'],
})

export const getAuditLogEntry = endpoint({
  id: 'getAuditLogEntry',
  method: 'GET',
  path: '/api/audit-log/{event_id}',
  summary: 'One entry',
  tag,
  access: admin,
  params: z.object({ event_id: z.string() }),
  returns: AuditLogEntry,
  fails: ['not_found'],
})

export const AuditVerification = z
  .object({
    valid: z.boolean().nullable().describe('Null: the range has no entries.'),
    status: z.enum(['verified', 'tampered', 'empty_range']),
    checked: count.describe('Number of entries that were checked.'),
    first_invalid_id: count
      .optional()
      .describe('Number of the first entry that was changed, deleted, or does not follow the previous one.'),
  })
  .meta({ id: 'AuditVerification' })
export type AuditVerification = z.output<typeof AuditVerification>

const EntryNumber = z.number().int().min(1, 'must be a positive integer').nullish()
const EntryRange = z.object({ start_id: EntryNumber, end_id: EntryNumber })

export const verifyAuditLog = endpoint({
  id: 'verifyAuditLog',
  method: 'POST',
  path: '/api/audit-log/verify',
  summary: 'Verify the chain of entries',
  description:
    'Recomputes the hash of every entry. Entries that the retention sweep deleted are not gaps. Without a range of numbers, the end of the chain is verified too.',
  tag,
  access: admin,
  strict: true,
  query: inQuery(EntryRange),
  body: EntryRange,
  bodyOptional: true,
  returns: AuditVerification,
  audit: { type: 'system', action: 'verify_audit_log' },
})

/** For the command line on this machine, which has no credential. */
export const verifyInternalAuditLog = endpoint({
  id: 'verifyInternalAuditLog',
  method: 'GET',
  path: '/api/internal/audit-log/verification',
  summary: 'Verify the chain of entries',
  tag: 'Internal',
  access: { who: 'internal' },
  returns: AuditVerification,
})

/** For processes of the platform that act for a caller outside the API. */
export const recordAuditEntry = endpoint({
  id: 'recordAuditEntry',
  method: 'POST',
  path: '/api/internal/audit',
  summary: 'Record an entry',
  tag: 'Internal',
  access: { who: 'internal' },
  body: z.object({
    event_type: z.enum(auditTypes),
    event_action: z.string().min(1).max(200),
    mcp_key_id: z.string().max(64).nullish(),
    mcp_key_name: z.string().max(200).nullish(),
    mcp_scope: z.enum(keyScopes).nullish(),
    actor_id: z.string().max(64).nullish().describe('The account, or the owner of the key.'),
    actor_agent_name: z.string().max(100).nullish(),
    target_type: z.string().max(100).nullish(),
    target_id: z.string().max(200).nullish(),
    request_id: z.string().max(128).nullish(),
    details: z.record(z.string(), z.unknown()).nullish().describe('Names, never secret values.'),
  }),
  returns: z.object({ event_id: z.string(), status: z.literal('logged') }),
})
