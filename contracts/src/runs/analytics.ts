import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Money } from '../kit/primitives.ts'
import { CostEstimated } from './cost.ts'

const tag = 'Executions'
const count = z.number().int()
const figure = z.number().nullable()
const rate = figure.describe('success ÷ (success + failed), 0 to 1; null when both are 0.')
const cost = Money.describe('US dollars.')
const date = z.string().describe('A day in UTC, `2026-01-31`.')

export const analyticsWindows = ['7d', '14d', '30d'] as const
export type AnalyticsWindow = (typeof analyticsWindows)[number]

/** Groups of run triggers. */
export const runBuckets = [
  'chats_tasks',
  'mcp',
  'channels',
  'public',
  'scheduled',
  'agents',
  'voice',
  'loops',
  'reminders',
  'other',
] as const
export type RunBucket = (typeof runBuckets)[number]

export const AnalyticsDay = z.object({
  date,
  total: count,
  success: count,
  failed: count,
  success_rate: rate,
  duration_avg_ms: figure.describe('For successful runs.'),
  cost,
  cost_estimated: CostEstimated,
  by_type: z
    .partialRecord(z.enum(runBuckets), count)
    .describe('Number of runs per type; types without runs are omitted.'),
})
export type AnalyticsDay = z.output<typeof AnalyticsDay>

export const Analytics = z.object({
  window: z.enum(analyticsWindows),
  window_hours: count,
  total_executions: count,
  success_count: count,
  failed_count: count,
  cancelled_count: count,
  skipped_count: count,
  success_rate: rate,
  duration_ms: z
    .object({ avg: figure, p50: figure, p95: figure })
    .describe('For successful runs; null without any.'),
  cost_total: cost,
  cost_estimated: CostEstimated,
  context_avg: figure.describe('Average number of context tokens at the end of a run.'),
  by_type: z.array(z.object({ bucket: z.enum(runBuckets), total: count })),
  timeline: z.array(AnalyticsDay).describe('Every UTC day of the window, oldest first, without gaps.'),
  sampled: z.boolean().describe('The percentiles cover only the newest 5,000 successful runs.'),
  sample_size: count.describe('Number of runs behind the percentiles.'),
})
export type Analytics = z.output<typeof Analytics>

export const getAnalytics = endpoint({
  id: 'getAnalytics',
  method: 'GET',
  path: '/api/agents/{name}/analytics',
  summary: 'Daily statistics of the runs of an agent',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object({ window: z.enum(analyticsWindows).default('7d') }),
  returns: Analytics,
  fails: ['agent_not_found'],
})

const Used = z.object({ input_tokens: count, output_tokens: count, cost, cost_estimated: CostEstimated })

export const TokenStats = z.object({
  agent_name: z.string(),
  lifetime: Used,
  last_24h: Used,
  last_7d: Used,
  daily: z.array(Used.extend({ date })).length(7).describe('The last 7 days in UTC, today last.'),
})
export type TokenStats = z.output<typeof TokenStats>

export const getTokenStats = endpoint({
  id: 'getTokenStats',
  method: 'GET',
  path: '/api/agents/{name}/token-stats',
  summary: 'Tokens and cost of an agent',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: TokenStats,
  fails: ['agent_not_found'],
})
