import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Id, Money, Timestamp } from '../kit/primitives.ts'
import { CostEstimated } from '../runs/cost.ts'
import { executionStatuses } from '../runs/executions.ts'
import { ScheduleParams } from './schedules.ts'

const tag = 'Schedules'
const count = z.number().int()
const figure = z.number().nullable()
const rate = figure.describe('success ÷ (success + failed), 0 to 1; null when both are 0.')
const cost = Money.describe('US dollars.')

export const analyticsHours = [24, 168, 720] as const
export const summaryWindows = ['7d', '14d', '30d'] as const
export type SummaryWindow = (typeof summaryWindows)[number]

const WindowHours = z
  .enum(['24', '168', '720'])
  .transform(Number)
  .pipe(z.literal(analyticsHours))
  .default(168)

export const ScheduleAnalytics = z.object({
  window_hours: z.union(analyticsHours.map((hours) => z.literal(hours))),
  total_executions: count,
  success_count: count,
  failed_count: count,
  cancelled_count: count,
  skipped_count: count,
  success_rate: rate,
  duration_ms: z
    .object({ p50: figure, p95: figure, p99: figure })
    .describe('For successful runs; null without any.'),
  cost: z.object({
    total: cost,
    avg: figure.describe('US dollars per run with a cost above 0.'),
    estimated: CostEstimated,
  }),
  tool_calls: z.object({
    top: z
      .array(z.object({ name: z.string(), calls: count, total_duration_ms: count }))
      .max(5)
      .describe('Sorted by total duration.'),
    total_calls: count,
  }),
  timeline: z
    .array(
      z.object({
        date: z.string().describe('A day in UTC, `2026-01-31`.'),
        success: count,
        failed: count,
        cancelled: count,
        skipped: count,
        cost,
        cost_estimated: CostEstimated,
      }),
    )
    .describe('Every day of the window.'),
  sampled: z.boolean().describe('The percentiles do not cover all successful runs.'),
  sample_size: count,
})
export type ScheduleAnalytics = z.output<typeof ScheduleAnalytics>

export const ScheduleSummary = z.object({
  window: z.enum(summaryWindows),
  window_hours: count,
  schedule_count: count,
  schedules: z.array(
    z.object({
      schedule_id: Id,
      name: z.string(),
      cron_expression: z.string(),
      enabled: z.boolean(),
      total_executions: count,
      run_count: count.describe('Executions that were not skipped.'),
      success_count: count,
      failed_count: count,
      cancelled_count: count,
      success_rate: rate,
      avg_duration_ms: figure.describe('For successful runs.'),
      cost_total: cost,
      cost_estimated: CostEstimated,
      tool_call_total: count,
      tool_call_count: count.describe('Same as `tool_call_total`.'),
      last_run_at: Timestamp.nullable().describe('Regardless of the window.'),
      last_run_status: z.enum(executionStatuses).nullable(),
    }),
  ),
})
export type ScheduleSummary = z.output<typeof ScheduleSummary>

export const getScheduleAnalytics = endpoint({
  id: 'getScheduleAnalytics',
  method: 'GET',
  path: '/api/agents/{name}/schedules/{id}/analytics',
  summary: 'Statistics of the runs of a schedule',
  description:
    'Covers runs created in the last 24, 168 or 720 hours, with retries and without validations. Percentiles cover the newest 5,000 successful runs.',
  tag,
  access: { who: 'access' },
  params: ScheduleParams,
  query: z.object({ window_hours: WindowHours }),
  returns: ScheduleAnalytics,
  fails: ['agent_not_found', 'schedule_not_found'],
})

export const getScheduleSummary = endpoint({
  id: 'getScheduleSummary',
  method: 'GET',
  path: '/api/agents/{name}/schedules/analytics-summary',
  summary: 'Statistics of all schedules of an agent, including those without runs',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object({
    window: z
      .enum(summaryWindows)
      .optional()
      .transform((window) => window ?? '7d'),
  }),
  returns: ScheduleSummary,
  fails: ['agent_not_found'],
})
