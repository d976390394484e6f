import { type Bounds, boundsOf, comparisonRule, type Measure } from '@roost/contracts/kit/comparison'
import { type ExecutionErrorCode, triggers } from '@roost/contracts/runs/executions'
import type {
  AgentRunStats,
  FleetStats,
  Timeline,
  TimelineGroup,
} from '@roost/contracts/runs/fleet-executions'
import { spansBetween } from '../../kit/calendar.ts'
import { Fault } from '../../kit/fault.ts'
import { successRate } from '../../kit/figures.ts'

/** The runs that a caller sees. `all` includes those of deleted agents, and so does `except`. */
export type Visible =
  | 'all'
  | { except: readonly string[] }
  | {
      agentIds: readonly string[]
      /** Of these agents, only the runs that the key started. */
      own: { agentIds: readonly string[]; keyId: string } | null
    }

/** The agents that a caller may access, and which of them show it only runs that its key started. */
export type Sight = {
  isAdmin: boolean
  keyId: string | null
  agents: readonly { id: string; ownRunsOnly: boolean }[]
  /** Forks of attempts. */
  hidden: readonly string[]
}

export function visibleTo({ isAdmin, keyId, agents, hidden }: Sight): Visible {
  if (isAdmin) return hidden.length === 0 ? 'all' : { except: hidden }
  const idsOf = (own: boolean) => agents.filter(({ ownRunsOnly }) => ownRunsOnly === own).map(({ id }) => id)
  return { agentIds: idsOf(false), own: keyId === null ? null : { agentIds: idsOf(true), keyId } }
}

/** Start of a window that ends now; null for all time. */
export function sinceOf(hours: number, now: Date): string | null {
  return hours === 0 ? null : new Date(now.getTime() - hours * 3_600_000).toISOString()
}

type Times = { hours: number; start_time?: string | undefined; end_time?: string | undefined }

/** The time window of a query: two timestamps, both inclusive, or the hours before now. */
export function spanOf(
  { hours, start_time, end_time }: Times,
  now: Date,
): { since: string | null; until: string | undefined } {
  if (start_time === undefined && end_time === undefined) {
    return { since: sinceOf(hours, now), until: undefined }
  }
  return { since: start_time ?? null, until: end_time }
}

/** The hours that a reply states: 0 for a window with a start or an end. */
export function hoursOf({ hours, start_time, end_time }: Times): number {
  return start_time === undefined && end_time === undefined ? hours : 0
}

/** The end of a timeline: no bucket is in the future. */
export function endOf({ until }: { until: string | undefined }, now: Date): Date {
  return until !== undefined && until < now.toISOString() ? new Date(until) : now
}

const maxEmptyMs = 8760 * 3_600_000

/** A long timeline starts with its first run, so that a start in the distant past does not fill it with buckets. */
export function startsWithFirstRun(since: string | null, to: Date): boolean {
  return since === null || to.getTime() - Date.parse(since) > maxEmptyMs
}

/** Agents by id: only these, or all others. */
export type AgentChoice = { ids: readonly string[]; isExcluded: boolean }

/** The agents with a tag; for an empty tag those without any, including deleted ones. */
export function taggedAgents(
  accessible: readonly { agent: { id: string; tags: readonly string[] } }[],
  tag: string,
): AgentChoice {
  const isExcluded = tag === ''
  const chosen = accessible.filter(({ agent }) =>
    isExcluded ? agent.tags.length > 0 : agent.tags.includes(tag),
  )
  return { ids: chosen.map(({ agent }) => agent.id), isExcluded }
}

/** Totals of the runs in a window. */
export type RunTotals = {
  total: number
  success: number
  failed: number
  cancelled: number
  skipped: number
  cost_micros: number
  /** 1: part of the cost is an estimate. */
  cost_estimated: number
}
/**
 * Runs that are active now. `waiting` counts the queued ones that are in an agent's queue; held ones are not.
 */
export type Live = { running: number; queued: number; waiting: number }

export const nothingRan: RunTotals = {
  total: 0,
  success: 0,
  failed: 0,
  cancelled: 0,
  skipped: 0,
  cost_micros: 0,
  cost_estimated: 0,
}
export const nothingLive: Live = { running: 0, queued: 0, waiting: 0 }

export function fleetStats(
  inWindow: RunTotals,
  live: Pick<Live, 'running' | 'queued'>,
  hours: number,
): FleetStats {
  const { total, success, failed, cancelled, skipped, cost_micros, cost_estimated } = inWindow
  return {
    total,
    success_count: success,
    failed_count: failed,
    cancelled_count: cancelled,
    skipped_count: skipped,
    running_count: live.running,
    queued_count: live.queued,
    total_cost: cost_micros / 1_000_000,
    cost_estimated: cost_estimated === 1,
    success_rate: successRate(success, failed),
    hours,
  }
}

type WindowStats = Pick<
  AgentRunStats,
  'task_count' | 'success_count' | 'failed_count' | 'success_rate' | 'total_cost' | 'cost_estimated'
>

export function windowStats({ total, success, failed, cost_micros, cost_estimated }: RunTotals): WindowStats {
  return {
    task_count: total,
    success_count: success,
    failed_count: failed,
    success_rate: successRate(success, failed),
    total_cost: cost_micros / 1_000_000,
    cost_estimated: cost_estimated === 1,
  }
}

export function weekStats(inWeek: RunTotals) {
  const stats = windowStats(inWeek)
  return {
    task_count_7d: stats.task_count,
    success_count_7d: stats.success_count,
    failed_count_7d: stats.failed_count,
    success_rate_7d: stats.success_rate,
    total_cost_7d: stats.total_cost,
    cost_estimated_7d: stats.cost_estimated,
  }
}

/** Failed runs with the same error code. */
export type CountedError = {
  error_code: ExecutionErrorCode | null
  count: number
  agent_count: number
  first_at: string
  last_at: string
}

/** The largest integer of a PostgreSQL column; larger bounds would be errors. */
const maxInteger = 2_147_483_647

/** The contract has checked the text. Throws `validation_error` for another one. */
export function boundsFilter(measure: Measure, text: string | undefined): Bounds | undefined {
  if (text === undefined) return undefined
  const bounds = boundsOf(measure, text)
  if (bounds === null) throw new Fault('validation_error', `${measure}: ${comparisonRule(measure)}.`)
  const capped = (bound: number | null) => (bound === null ? null : Math.min(bound, maxInteger))
  return { least: capped(bounds.least), most: capped(bounds.most) }
}

type Bucket = Timeline['buckets'][number]
export type CountedBucket = Omit<Bucket, 'cost' | 'cost_estimated'> & {
  cost_micros: number
  cost_estimated: number
}

/** Buckets in the order of `names`, zero where nothing was counted; then any other counted buckets. */
export function fillBuckets(names: readonly string[], counted: readonly CountedBucket[]): Bucket[] {
  const filled = new Map<string, Bucket>(
    names.map((bucket) => [
      bucket,
      { bucket, total: 0, success: 0, failed: 0, cost: 0, cost_estimated: false },
    ]),
  )
  for (const { bucket, total, success, failed, cost_micros, cost_estimated } of counted) {
    const before = filled.get(bucket)
    filled.set(bucket, {
      bucket,
      total: (before?.total ?? 0) + total,
      success: (before?.success ?? 0) + success,
      failed: (before?.failed ?? 0) + failed,
      cost: (before?.cost ?? 0) + cost_micros / 1_000_000,
      cost_estimated: (before?.cost_estimated ?? false) || cost_estimated === 1,
    })
  }
  return [...filled.values()]
}

/** Names of the buckets that a timeline shows even without runs; `from` null means that no run exists. */
export function bucketNames(
  group: Exclude<TimelineGroup, 'agent'>,
  { from, to }: { from: Date | null; to: Date },
): string[] {
  if (group === 'trigger') return [...triggers]
  return spansBetween(group, from ?? to, to)
}

/** Turns `2026-01-31T08` into a timestamp; days stay as they are. */
export function bucketLabel(group: TimelineGroup, bucket: string): string {
  return group === 'hour' ? `${bucket}:00:00.000Z` : bucket
}
