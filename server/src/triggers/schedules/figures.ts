import type { ExecutionStatus } from '@roost/contracts/runs/executions'
import type { ScheduleAnalytics, ScheduleSummary } from '@roost/contracts/triggers/schedule-analytics'
import { average, percentile, successRate } from '../../kit/figures.ts'
import type { DayCount, LastRun, ScheduleCount, ToolFigure } from './runs-store.ts'
import type { Schedule } from './store.ts'

/** Percentiles are computed from at most this many of the newest runs. */
export const sampleLimit = 5_000
const maxTools = 5

/** `durations` are those of the newest successful runs, at most `sampleLimit` plus one. */
export type Figures = {
  counts: readonly DayCount[]
  durations: readonly number[]
  tools: readonly ToolFigure[]
}

export function analyticsOf(
  windowHours: ScheduleAnalytics['window_hours'],
  days: readonly string[],
  { counts, durations, tools }: Figures,
): ScheduleAnalytics {
  const sample = durations.slice(0, sampleLimit).sort((a, b) => a - b)
  const [success, failed] = [totalOf(counts, 'success'), totalOf(counts, 'failed')]
  const costMicros = sum(counts, 'cost_micros')
  const byDay = Map.groupBy(counts, ({ day }) => day)
  const costed = sum(counts, 'costed')
  return {
    window_hours: windowHours,
    total_executions: sum(counts, 'total'),
    success_count: success,
    failed_count: failed,
    cancelled_count: totalOf(counts, 'cancelled'),
    skipped_count: totalOf(counts, 'skipped'),
    success_rate: successRate(success, failed),
    duration_ms: {
      p50: percentile(sample, 50),
      p95: percentile(sample, 95),
      p99: percentile(sample, 99),
    },
    cost: {
      total: costMicros / 1e6,
      avg: costed === 0 ? null : costMicros / costed / 1e6,
      estimated: hasEstimate(counts),
    },
    tool_calls: {
      top: tools
        .toSorted((a, b) => b.duration_ms - a.duration_ms || b.calls - a.calls || (a.tool < b.tool ? -1 : 1))
        .slice(0, maxTools)
        .map(({ tool, calls, duration_ms }) => ({ name: tool, calls, total_duration_ms: duration_ms })),
      total_calls: sum(tools, 'calls'),
    },
    timeline: days.map((date) => dayOf(date, byDay.get(date) ?? [])),
    sampled: durations.length > sampleLimit,
    sample_size: sample.length,
  }
}

function dayOf(date: string, counts: readonly DayCount[]): ScheduleAnalytics['timeline'][number] {
  return {
    date,
    success: totalOf(counts, 'success'),
    failed: totalOf(counts, 'failed'),
    cancelled: totalOf(counts, 'cancelled'),
    skipped: totalOf(counts, 'skipped'),
    cost: sum(counts, 'cost_micros') / 1e6,
    cost_estimated: hasEstimate(counts),
  }
}

/** One row per schedule, also without runs. */
export function summaryOf(
  schedule: Schedule,
  counts: readonly ScheduleCount[],
  last: LastRun | null,
): ScheduleSummary['schedules'][number] {
  const [success, failed] = [totalOf(counts, 'success'), totalOf(counts, 'failed')]
  const successful = counts.filter(({ status }) => status === 'success')
  const all = sum(counts, 'total')
  const tools = sum(counts, 'tools')
  return {
    schedule_id: schedule.id,
    name: schedule.name,
    cron_expression: schedule.cron_expression,
    enabled: schedule.enabled === 1,
    total_executions: all,
    run_count: all - totalOf(counts, 'skipped'),
    success_count: success,
    failed_count: failed,
    cancelled_count: totalOf(counts, 'cancelled'),
    success_rate: successRate(success, failed),
    avg_duration_ms: average(sum(successful, 'duration_ms'), sum(successful, 'timed')),
    cost_total: sum(counts, 'cost_micros') / 1e6,
    cost_estimated: hasEstimate(counts),
    tool_call_total: tools,
    tool_call_count: tools,
    last_run_at: last ? (last.started_at ?? last.created_at) : null,
    last_run_status: last?.status ?? null,
  }
}

function hasEstimate(counts: readonly { cost_estimated: number }[]): boolean {
  return counts.some(({ cost_estimated }) => cost_estimated === 1)
}

function totalOf(
  counts: readonly { status: ExecutionStatus; total: number }[],
  status: ExecutionStatus,
): number {
  return sum(
    counts.filter((count) => count.status === status),
    'total',
  )
}

function sum<K extends string>(rows: readonly Record<K, number>[], field: K): number {
  return rows.reduce((total, row) => total + row[field], 0)
}
