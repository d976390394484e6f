import { z } from 'zod'
import { workspaceAccess, workspaceAgentPath, workspaceTag } from '../conversations/workspace.ts'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { jsonBytes } from '../kit/json.ts'
import { AgentParams, Id, megabyte, queryInteger, Timestamp, TimestampInput } from '../kit/primitives.ts'

const tag = 'Reports'

export const displayHints = ['table', 'kpi', 'markdown', 'timeline', 'json'] as const
export const reportAudiences = ['operator', 'roster'] as const
export type DisplayHint = (typeof displayHints)[number]
export type ReportAudience = (typeof reportAudiences)[number]

export const maxPayloadBytes = 5 * megabyte

export const ReportType = z
  .string()
  .max(128)
  .regex(
    /^[a-z0-9_]+(\.[a-z0-9_]+)*$/,
    'must be words of lowercase letters, digits and "_", joined by "."; for example sales.weekly',
  )

export const ReportBody = z
  .object({
    report_type: ReportType,
    title: z.string().trim().min(1).max(300),
    payload: z
      .union([z.string(), z.array(z.unknown()), z.record(z.string(), z.unknown())], {
        error: 'must be text, an array or an object',
      })
      .refine((value) => jsonBytes(value) <= maxPayloadBytes, { message: 'must be at most 5 MiB of JSON' }),
    display_hint: z
      .enum(displayHints)
      .nullish()
      .transform((value) => value ?? null),
    period_start: TimestampInput.nullish().transform((value) => value ?? null),
    period_end: TimestampInput.nullish().transform((value) => value ?? null),
    audience: z
      .enum(reportAudiences)
      .nullish()
      .transform((value) => value ?? 'operator')
      .describe('`roster`: also visible in the Workspace to everyone the agent is shared with.'),
    execution_id: Id.nullish()
      .transform((value) => value ?? null)
      .describe('The run that produced the report.'),
  })
  .refine(
    ({ period_start, period_end }) =>
      period_start === null || period_end === null || period_start <= period_end,
    {
      path: ['period_end'],
      message: 'must not be before period_start',
    },
  )
export type ReportBody = z.output<typeof ReportBody>

const time = Timestamp.nullable()

/** A report without its payload. */
export const ReportSummary = z
  .object({
    id: Id,
    agent_name: z.string(),
    report_type: z.string(),
    title: z.string(),
    display_hint: z.enum(displayHints).nullable(),
    period_start: time,
    period_end: time,
    audience: z.enum(reportAudiences),
    execution_id: z.string().nullable(),
    payload_bytes: z.number().int(),
    created_at: Timestamp,
  })
  .meta({ id: 'ReportSummary' })
export type ReportSummary = z.output<typeof ReportSummary>

const ratingCount = z.number().int()
export const Report = ReportSummary.extend({
  payload: z.unknown(),
  ratings: z.object({ up: ratingCount, down: ratingCount }).describe('Ratings by Workspace users.'),
}).meta({ id: 'Report' })
export type Report = z.output<typeof Report>

export const RosterReport = ReportSummary.extend({
  payload: z.unknown(),
  my_rating: z.enum(['up', 'down']).nullable(),
}).meta({ id: 'RosterReport' })
export type RosterReport = z.output<typeof RosterReport>

const filters = {
  report_type: ReportType.optional(),
  limit: queryInteger(1, 500, 50),
  offset: queryInteger(0, 1_000_000, 0),
}
const ReportsQuery = z.object({ ...filters, agent_name: z.string().max(100).optional() })
export type ReportsQuery = z.output<typeof ReportsQuery>

export const createReport = endpoint({
  id: 'createReport',
  method: 'POST',
  path: '/api/agents/{name}/reports',
  summary: 'Submit a report; reports are immutable',
  description: 'At most 60 a minute for each agent. Reports are kept for `agent_reports_retention_days`.',
  tag,
  access: { who: 'agent' },
  params: AgentParams,
  body: ReportBody,
  // The payload limit counts UTF-8 bytes; a sender that escapes non-ASCII characters needs three times as much.
  bodyLimit: 3 * maxPayloadBytes + megabyte,
  maxValues: 200_000,
  status: 201,
  returns: Report,
  fails: ['agent_not_found', 'execution_not_found', 'body_too_large', 'rate_limited'],
  audit: { type: 'execution', action: 'create_report' },
})

export const listAgentReports = endpoint({
  id: 'listAgentReports',
  method: 'GET',
  path: '/api/agents/{name}/reports',
  summary: 'Reports of one agent without their payloads, newest first',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object(filters),
  returns: z.array(ReportSummary),
  replyHeaders: ['X-Total-Count'],
  fails: ['agent_not_found'],
})

export const getAgentReport = endpoint({
  id: 'getAgentReport',
  method: 'GET',
  path: '/api/agents/{name}/reports/{id}',
  summary: 'One report of an agent',
  tag,
  access: { who: 'access' },
  params: z.object({ name: z.string(), id: z.string() }),
  returns: Report,
  fails: ['agent_not_found', 'not_found'],
})

export const listReports = endpoint({
  id: 'listReports',
  method: 'GET',
  path: '/api/reports',
  summary: 'Reports of the agents that the caller can access, without payloads, newest first',
  tag,
  access: { who: 'any' },
  query: ReportsQuery,
  returns: z.array(ReportSummary),
  replyHeaders: ['X-Total-Count'],
})

export const getReportStats = endpoint({
  id: 'getReportStats',
  method: 'GET',
  path: '/api/reports/stats',
  summary: 'Count reports by type and by agent',
  tag,
  access: { who: 'any' },
  returns: z.object({
    total: z.number().int(),
    by_type: z.record(z.string(), z.number().int()),
    by_agent: z.record(z.string(), z.number().int()),
  }),
})

export const getReport = endpoint({
  id: 'getReport',
  method: 'GET',
  path: '/api/reports/{id}',
  summary: 'One report',
  tag,
  access: { who: 'any' },
  params: z.object({ id: z.string() }),
  returns: Report,
  fails: ['not_found'],
})

const workspace = { tag: workspaceTag, access: workspaceAccess } as const

export const listRosterReports = endpoint({
  ...workspace,
  id: 'listWorkspaceReports',
  method: 'GET',
  path: workspaceAgentPath('/reports'),
  summary: 'Reports of an agent in the Workspace, without payloads, newest first',
  params: AgentParams,
  query: z.object(filters),
  returns: z.array(ReportSummary),
  replyHeaders: ['X-Total-Count'],
  fails: ['agent_not_found'],
})

export const getRosterReport = endpoint({
  ...workspace,
  id: 'getWorkspaceReport',
  method: 'GET',
  path: workspaceAgentPath('/reports/{id}'),
  summary: 'One report of an agent in the Workspace',
  params: z.object({ name: z.string(), id: z.string() }),
  returns: RosterReport,
  fails: ['agent_not_found', 'not_found'],
})

export const agentReport = eventType({
  name: 'agent.report',
  stored: true,
  fields: z.object({ report_id: Id, report_type: z.string(), title: z.string() }),
})
