import {
  type Analytics,
  type AnalyticsDay,
  type AnalyticsWindow,
  type RunBucket,
  runBuckets,
  type TokenStats,
} from '@roost/contracts/runs/analytics'
import type { ExecutionStatus, Trigger } from '@roost/contracts/runs/executions'
import { average, percentile, successRate } from '../../kit/figures.ts'

export const windowHours: Record<AnalyticsWindow, number> = { '7d': 168, '14d': 336, '30d': 720 }

/** Percentiles are computed from at most this many runs, the newest ones. */
export const sampleLimit = 5_000

const bucketOf: Record<Trigger, RunBucket> = {
  chat: 'chats_tasks',
  session: 'chats_tasks',
  workspace: 'chats_tasks',
  manual: 'chats_tasks',
  mcp: 'mcp',
  slack: 'channels',
  public: 'public',
  paid: 'public',
  // Retries and webhooks belong to schedules.
  schedule: 'scheduled',
  retry: 'scheduled',
  webhook: 'scheduled',
  agent: 'agents',
  self_task: 'agents',
  fan_out: 'agents',
  voice: 'voice',
  voip: 'voice',
  loop: 'loops',
  reminder: 'reminders',
  event: 'other',
  validation: 'other',
  operator_response: 'other',
  playbook: 'other',
}

/** Runs of one day, status and trigger; `timed` counts those with a duration. */
export type DayCount = {
  day: string
  status: ExecutionStatus
  triggered_by: Trigger
  total: number
  cost_micros: number
  /** 1: part of the cost is an estimate. */
  cost_estimated: number
  timed: number
  duration_ms: number
  with_context: number
  context_used: number
}

/** `durations` holds up to `sampleLimit + 1` of the newest successful runs, newest first. */
export function analyticsOf(
  window: AnalyticsWindow,
  days: readonly string[],
  counts: readonly DayCount[],
  durations: readonly number[],
): Analytics {
  const sample = durations.slice(0, sampleLimit).sort((a, b) => a - b)
  const of = (status: ExecutionStatus) => totalOf(withStatus(counts, status))
  const byDay = Map.groupBy(counts, ({ day }) => day)
  return {
    window,
    window_hours: windowHours[window],
    total_executions: totalOf(counts),
    success_count: of('success'),
    failed_count: of('failed'),
    cancelled_count: of('cancelled'),
    skipped_count: of('skipped'),
    success_rate: successRate(of('success'), of('failed')),
    duration_ms: {
      avg: averageDuration(counts),
      p50: percentile(sample, 50),
      p95: percentile(sample, 95),
    },
    cost_total: costOf(counts),
    cost_estimated: hasEstimate(counts),
    context_avg: average(sum(counts, 'context_used'), sum(counts, 'with_context')),
    by_type: runBuckets.map((bucket) => ({ bucket, total: byType(counts)[bucket] ?? 0 })),
    timeline: days.map((day) => dayOf(day, byDay.get(day) ?? [])),
    sampled: durations.length > sampleLimit,
    sample_size: sample.length,
  }
}

function dayOf(date: string, counts: readonly DayCount[]): AnalyticsDay {
  const [success, failed] = [totalOf(withStatus(counts, 'success')), totalOf(withStatus(counts, 'failed'))]
  return {
    date,
    total: totalOf(counts),
    success,
    failed,
    success_rate: successRate(success, failed),
    duration_avg_ms: averageDuration(counts),
    cost: costOf(counts),
    cost_estimated: hasEstimate(counts),
    by_type: byType(counts),
  }
}

function byType(counts: readonly DayCount[]): Partial<Record<RunBucket, number>> {
  const totals: Partial<Record<RunBucket, number>> = {}
  for (const { triggered_by, total } of counts) {
    const bucket = bucketOf[triggered_by]
    totals[bucket] = (totals[bucket] ?? 0) + total
  }
  return totals
}

function averageDuration(counts: readonly DayCount[]): number | null {
  const successful = withStatus(counts, 'success')
  return average(sum(successful, 'duration_ms'), sum(successful, 'timed'))
}

function withStatus(counts: readonly DayCount[], status: ExecutionStatus): DayCount[] {
  return counts.filter((count) => count.status === status)
}

function totalOf(counts: readonly DayCount[]): number {
  return sum(counts, 'total')
}

function costOf(counts: readonly DayCount[]): number {
  return sum(counts, 'cost_micros') / 1_000_000
}

function hasEstimate(counts: readonly DayCount[]): boolean {
  return counts.some(({ cost_estimated }) => cost_estimated === 1)
}

type Figure = 'total' | 'cost_micros' | 'timed' | 'duration_ms' | 'with_context' | 'context_used'
function sum(counts: readonly DayCount[], figure: Figure): number {
  return counts.reduce((total, count) => total + count[figure], 0)
}

export type UsedTokens = {
  input_tokens: number
  output_tokens: number
  cost_micros: number
  cost_estimated: number
}
export type DayTokens = UsedTokens & { day: string }

export type TokenFigures = {
  lifetime: UsedTokens
  lastDay: UsedTokens
  lastWeek: UsedTokens
  /** Days without a run may be missing. */
  daily: readonly DayTokens[]
}

export function tokenStatsOf(agentName: string, days: readonly string[], figures: TokenFigures): TokenStats {
  const byDay = new Map(figures.daily.map((day) => [day.day, day]))
  return {
    agent_name: agentName,
    lifetime: usedOf(figures.lifetime),
    last_24h: usedOf(figures.lastDay),
    last_7d: usedOf(figures.lastWeek),
    daily: days.map((date) => ({ date, ...usedOf(byDay.get(date) ?? nothingUsed) })),
  }
}

const nothingUsed: UsedTokens = { input_tokens: 0, output_tokens: 0, cost_micros: 0, cost_estimated: 0 }

function usedOf({ input_tokens, output_tokens, cost_micros, cost_estimated }: UsedTokens) {
  return {
    input_tokens,
    output_tokens,
    cost: cost_micros / 1_000_000,
    cost_estimated: cost_estimated === 1,
  }
}
