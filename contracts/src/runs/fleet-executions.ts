import { z } from 'zod'
import { Comparison } from '../kit/comparison.ts'
import { endpoint } from '../kit/endpoint.ts'
import { Money, queryBoolean, queryInteger, Timestamp, TimestampInput } from '../kit/primitives.ts'
import { breakerStates } from './breaker.ts'
import { CostEstimated } from './cost.ts'
import {
  ErrorFilter,
  ExecutionDetails,
  ExecutionLog,
  ExecutionSummary,
  executionErrorCodes,
  ModelCall,
  streamExecution,
} from './executions.ts'

const tag = 'Executions'
const count = z.number().int()
const rate = z.number().nullable().describe('success ÷ (success + failed), 0 to 1; null when both are 0.')
const cost = Money.describe('US dollars.')
const readers = { who: 'any', scopes: ['ops'] } as const

const window = {
  hours: queryInteger(0, 8760, 24).describe(
    'Only runs created in this number of hours before now; 0 means all.',
  ),
  agent: z.string().max(63).optional().describe('The name of one agent.'),
  start_time: TimestampInput.optional().describe('Runs created at or after this time. `hours` is ignored.'),
  end_time: TimestampInput.optional().describe('Runs created at or before this time. `hours` is ignored.'),
  model: z.string().max(200).optional().describe('The model that ran; empty: runs without one.'),
  person: z
    .string()
    .max(320)
    .optional()
    .describe(
      '`source_user_id` of the run, or the e-mail address or user name of that person; empty: runs without one.',
    ),
  tag: z.string().max(50).optional().describe('Runs of agents with this tag; empty: without tags.'),
  error: ErrorFilter,
  cost: Comparison('cost')
    .optional()
    .describe(
      'Cost in US dollars: `>0.5`, `>=0.5`, `<2`, `<=2`, `1`, or `0.5..2`. Runs without a cost never match.',
    ),
  tokens: Comparison('tokens')
    .optional()
    .describe('Input and output tokens, compared like `cost`; `50k` is 50,000 and `2M` 2,000,000.'),
  duration: Comparison('duration')
    .optional()
    .describe('Duration in seconds, compared like `cost`; with a unit: `250ms`, `30s`, `5m`, `1h`.'),
}
/** Filters of lists; figures are counted by status and trigger. */
const listed = {
  status: z.string().max(50).optional(),
  triggered_by: z.string().max(50).optional(),
  search: z.string().max(200).optional(),
}
const hours = count.describe('0: all time, or the window has `start_time` or `end_time`.')

const filters = { ...window, ...listed }

export const listExecutions = endpoint({
  id: 'listExecutions',
  method: 'GET',
  path: '/api/executions',
  summary: 'Runs of all agents that the caller can access, newest first',
  description:
    'Paged; `X-Total-Count` has the number of matches. `search` covers the id, and the message if the caller may read it. Admins also see runs of deleted agents, with details at `/api/executions/{id}`.',
  tag,
  access: readers,
  query: z.object({
    ...filters,
    limit: queryInteger(1, 200, 50),
    offset: queryInteger(0, 999_999_999, 0),
  }),
  returns: z.array(ExecutionSummary),
  replyHeaders: ['X-Total-Count'],
  fails: ['unknown_filter'],
})

const anyRun = {
  method: 'GET',
  tag,
  access: { who: 'admin' },
  params: z.object({ id: z.string() }),
  fails: ['execution_not_found'],
} as const
const forDeleted =
  'Admins get runs of deleted agents here, because such an agent has no path, and a new agent may have its name. Works for runs of other agents too.'

export const getAnyExecution = endpoint({
  ...anyRun,
  id: 'getAnyExecution',
  path: '/api/executions/{id}',
  summary: 'Get a run with its response by its id',
  description: forDeleted,
  returns: ExecutionDetails,
})

export const getAnyExecutionLog = endpoint({
  ...anyRun,
  id: 'getAnyExecutionLog',
  path: '/api/executions/{id}/log',
  summary: 'The transcript of a run by its id',
  description: forDeleted,
  returns: ExecutionLog,
})

export const streamAnyExecution = endpoint({
  ...anyRun,
  id: 'streamAnyExecution',
  path: '/api/executions/{id}/stream',
  summary: 'The transcript of a run as server-sent events, by its id',
  description: `${forDeleted} The events are those of the agent's own stream; a finished run replays and ends.`,
  query: streamExecution.query,
  streams: ['text/event-stream'],
  headers: ['Last-Event-ID'],
  replyHeaders: ['X-Execution-Id'],
})

const oneRun = {
  method: 'GET',
  tag,
  access: readers,
  params: z.object({ id: z.string() }),
} as const

/** What a run did besides its transcript. */
export const ExecutionTrace = z.object({
  model_calls: z
    .array(ModelCall)
    .describe('As measured by the broker, by their start; at most 20,000. Empty for runs of older releases.'),
  started_runs: z
    .array(ExecutionSummary)
    .describe('The first 200 runs that this run started, of itself or other agents, that the caller sees.'),
})
export type ExecutionTrace = z.output<typeof ExecutionTrace>

export const getExecutionTrace = endpoint({
  ...oneRun,
  id: 'getExecutionTrace',
  path: '/api/executions/{id}/trace',
  summary: 'The model calls of a run, and the runs that it started',
  description: 'Works for every run that lists show to the caller.',
  returns: ExecutionTrace,
  fails: ['execution_not_found'],
})

export const ExecutionNeighbours = z.object({
  previous: ExecutionSummary.nullable().describe('The run created before it.'),
  next: ExecutionSummary.nullable().describe('The run created after it.'),
})
export type ExecutionNeighbours = z.output<typeof ExecutionNeighbours>

export const getExecutionNeighbours = endpoint({
  ...oneRun,
  id: 'getExecutionNeighbours',
  path: '/api/executions/{id}/neighbours',
  summary: 'The runs before and after a run in a filtered list',
  description:
    'Takes the filters of `GET /api/executions`, without a time window by default. The run itself need not match.',
  query: z.object({ ...filters, hours: queryInteger(0, 8760, 0).describe(window.hours.description ?? '') }),
  returns: ExecutionNeighbours,
  fails: ['execution_not_found', 'unknown_filter'],
})

export const FleetStats = z.object({
  total: count,
  success_count: count,
  failed_count: count,
  cancelled_count: count,
  skipped_count: count,
  running_count: count.describe('Current value, regardless of the window.'),
  queued_count: count.describe('Current value, regardless of the window.'),
  total_cost: cost,
  cost_estimated: CostEstimated,
  success_rate: rate,
  hours,
})
export type FleetStats = z.output<typeof FleetStats>

export const getFleetStats = endpoint({
  id: 'getFleetStats',
  method: 'GET',
  path: '/api/executions/stats',
  summary: 'Count runs by outcome',
  tag,
  access: readers,
  query: z.object(window),
  returns: FleetStats,
  fails: ['unknown_filter'],
})

export const FleetErrors = z.object({
  hours,
  groups: z
    .array(
      z.object({
        error_code: z.enum(executionErrorCodes).nullable().describe('Null: runs without an error code.'),
        count,
        agent_count: count.describe('The number of agents with such a run.'),
        first_at: Timestamp.describe('Creation of the first such run in the window.'),
        last_at: Timestamp,
      }),
    )
    .describe('The most frequent code first.'),
})
export type FleetErrors = z.output<typeof FleetErrors>

export const getFleetErrors = endpoint({
  id: 'getFleetErrors',
  method: 'GET',
  path: '/api/executions/errors',
  summary: 'Failed runs by error code',
  description: 'Counts the failed runs among those that the list has with the same filters.',
  tag,
  access: readers,
  query: z.object({ ...window, triggered_by: listed.triggered_by, search: listed.search }),
  returns: FleetErrors,
  fails: ['unknown_filter'],
})

export const timelineGroups = ['hour', 'day', 'trigger', 'agent'] as const
export type TimelineGroup = (typeof timelineGroups)[number]

export const Timeline = z.object({
  group_by: z.enum(timelineGroups),
  hours,
  buckets: z.array(
    z.object({
      bucket: z
        .string()
        .describe(
          'Start of the hour or day in UTC; the trigger; or the name of the agent, followed by " (deleted)" for a deleted one.',
        ),
      total: count,
      success: count,
      failed: count,
      cost,
      cost_estimated: CostEstimated,
    }),
  ),
})
export type Timeline = z.output<typeof Timeline>

export const getFleetTimeline = endpoint({
  id: 'getFleetTimeline',
  method: 'GET',
  path: '/api/executions/timeline',
  summary: 'Runs by hour, day, trigger or agent',
  description: 'Buckets are sorted; those without runs have 0.',
  tag,
  access: { who: 'any' },
  query: z.object({ ...window, group_by: z.string().max(20).optional() }),
  returns: Timeline,
  fails: ['unknown_filter'],
})

export const AgentRunStats = z.object({
  name: z.string(),
  task_count: count.describe('Runs of every kind created in the window.'),
  success_count: count,
  failed_count: count,
  running_count: count.describe('Current value, regardless of the window.'),
  queued_count: count.describe('Current value, regardless of the window.'),
  success_rate: rate,
  total_cost: cost,
  cost_estimated: CostEstimated,
  last_execution_at: Timestamp.nullable().describe('Regardless of the window; null without any run.'),
  schedules_total: count,
  schedules_enabled: count,
  task_count_7d: count.optional(),
  success_count_7d: count.optional(),
  failed_count_7d: count.optional(),
  success_rate_7d: rate.optional(),
  total_cost_7d: cost.optional(),
  cost_estimated_7d: CostEstimated.optional(),
})
export type AgentRunStats = z.output<typeof AgentRunStats>

export const getExecutionStats = endpoint({
  id: 'getExecutionStats',
  method: 'GET',
  path: '/api/agents/execution-stats',
  summary: 'Run statistics of each agent',
  tag,
  access: readers,
  query: z.object({ hours: window.hours, include_7d: queryBoolean(false) }),
  returns: z.object({ agents: z.array(AgentRunStats) }),
})

export const FleetSlots = z.object({
  timestamp: Timestamp,
  agents: z.record(
    z.string(),
    z.object({
      max: count.describe('Maximum of parallel runs.'),
      active: count,
      queued: count.describe('Runs that wait for a slot.'),
    }),
  ),
  circuit_breakers: z
    .record(z.string(), z.enum(breakerStates))
    .describe('The dispatch breaker of each agent, by name.'),
})
export type FleetSlots = z.output<typeof FleetSlots>

export const getFleetSlots = endpoint({
  id: 'getFleetSlots',
  method: 'GET',
  path: '/api/agents/slots',
  summary: 'Slots and waiting runs of each agent, by name',
  tag,
  access: readers,
  returns: FleetSlots,
})
