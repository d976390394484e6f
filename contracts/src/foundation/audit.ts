import { z } from 'zod'
import { keyScopes } from '../kit/access.ts'
import { auditTypes, endpoint } from '../kit/endpoint.ts'
import { inQuery } from '../kit/in-query.ts'
import { queryInteger, Timestamp, TimestampInput } from '../kit/primitives.ts'

const tag = 'Audit log'
const admin = { who: 'admin' } as const
const count = z.number().int()

export const auditActorTypes = ['user', 'agent', 'mcp_client', 'system', 'anonymous'] as const
export type AuditActorType = (typeof auditActorTypes)[number]
export const auditSources = ['api', 'mcp', 'scheduler', 'system'] as const
export type AuditSource = (typeof auditSources)[number]
/** `refused`: 401 or 403. `failed`: another error. `ok`: the rest, also what is no call and so has no status. */
export const auditOutcomes = ['ok', 'refused', 'failed'] as const
export type AuditOutcome = (typeof auditOutcomes)[number]

/** The filters that take one of a few values; another one is 422 `unknown_filter`. */
export const auditFilterValues = {
  event_type: auditTypes,
  actor_type: auditActorTypes,
  source: auditSources,
  mcp_scope: keyScopes,
  outcome: auditOutcomes,
} as const satisfies Record<string, readonly string[]>

export const AuditLogEntry = z
  .object({
    id: count.describe('Its number in the chain; they follow each other without a gap.'),
    event_id: z.string(),
    event_type: z.enum(auditTypes),
    event_action: z.string(),
    actor_type: z.enum(auditActorTypes),
    actor_id: z.string().nullable().describe('The account; of a key, its owner.'),
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
    previous_hash: z.string().nullable().describe('Of the entry before it; null at the very first.'),
    entry_hash: z.string().describe('SHA-256 of all the other fields.'),
  })
  .meta({ id: 'AuditLogEntry' })
export type AuditLogEntry = z.output<typeof AuditLogEntry>

const window = {
  start_time: TimestampInput.optional().describe('Entries of this moment and later.'),
  end_time: TimestampInput.optional().describe('Entries of this moment and earlier.'),
}
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
  summary: 'Who did what, newest first',
  description:
    'Every write, every refused gate and every sign-in is one entry. All filters have to match; `total` says how many entries do, and so does `X-Total-Count`.',
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
    limit: queryInteger(1, 1_000, 100),
    offset: queryInteger(0, 999_999_999, 0),
  }),
  returns: z.object({ entries: z.array(AuditLogEntry), total: count, limit: count, offset: count }),
  replyHeaders: ['X-Total-Count'],
  fails: ['unknown_filter'],
})

export const AuditLogStats = z.object({
  total: count,
  by_event_type: z.record(z.string(), count).describe('Those that occur.'),
  by_actor_type: z.record(z.string(), count).describe('Those that occur.'),
  by_source: z.record(z.string(), count).describe('Those that occur.'),
  by_day: z
    .array(z.object({ date: z.string().describe('`YYYY-MM-DD`, UTC.'), count }))
    .describe('Days with entries, oldest first.'),
})
export type AuditLogStats = z.output<typeof AuditLogStats>

export const getAuditLogStats = endpoint({
  id: 'getAuditLogStats',
  method: 'GET',
  path: '/api/audit-log/stats',
  summary: 'How many entries there are, by type, actor, source and day',
  tag,
  access: admin,
  query: z.object(window),
  returns: AuditLogStats,
})

export const exportAuditLog = endpoint({
  id: 'exportAuditLog',
  method: 'GET',
  path: '/api/audit-log/export',
  summary: 'The entries of a time as a file, oldest first',
  description:
    '`json` is an array of entries. `csv` has a header line and one line for each entry, with `details` as JSON; a text that a spreadsheet would take for a formula has an apostrophe before it.',
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
    valid: z.boolean().nullable().describe('Null: there was nothing to look at.'),
    status: z.enum(['verified', 'tampered', 'empty_range']),
    checked: count.describe('Entries that were looked at.'),
    first_invalid_id: count
      .optional()
      .describe(
        'The number of the first entry that was changed, is gone, or does not follow the one before it.',
      ),
  })
  .meta({ id: 'AuditVerification' })
export type AuditVerification = z.output<typeof AuditVerification>

const EntryNumber = z.number().int().min(1, 'must be a positive integer').nullish()
const EntryRange = z.object({ start_id: EntryNumber, end_id: EntryNumber })

export const verifyAuditLog = endpoint({
  id: 'verifyAuditLog',
  method: 'POST',
  path: '/api/audit-log/verify',
  summary: 'Whether the chain of entries is whole',
  description:
    'Computes the hash of every entry again. Entries that the retention sweep removed are no gap. A range of numbers can be named; without one, the end of the chain is looked at too.',
  tag,
  access: admin,
  strict: true,
  query: inQuery(EntryRange),
  body: EntryRange,
  bodyOptional: true,
  returns: AuditVerification,
  audit: { type: 'system', action: 'verify_audit_log' },
})

/** The same for the command line of this machine, which has no credential. */
export const verifyInternalAuditLog = endpoint({
  id: 'verifyInternalAuditLog',
  method: 'GET',
  path: '/api/internal/audit-log/verification',
  summary: 'Whether the chain of entries is whole',
  tag: 'Internal',
  access: { who: 'internal' },
  returns: AuditVerification,
})

/** What a process of the platform has done for a caller beside the API. */
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
    actor_id: z.string().max(64).nullish().describe('The account; of a key, its owner.'),
    actor_agent_name: z.string().max(100).nullish(),
    target_type: z.string().max(100).nullish(),
    target_id: z.string().max(200).nullish(),
    request_id: z.string().max(128).nullish(),
    details: z.record(z.string(), z.unknown()).nullish().describe('Names, never secret values.'),
  }),
  returns: z.object({ event_id: z.string(), status: z.literal('logged') }),
})
