import type { Timeline } from '@roost/contracts/runs/fleet-executions'

type Bucket = Pick<Timeline['buckets'][number], 'bucket' | 'total' | 'success' | 'failed'>

export type Hour = {
  /** Start in Unix ms. */
  at: number
  total: number
  failed: number
  /** Heights as shares of the strip: failed runs below its base line, all others above. */
  above: number
  below: number
}

export type Strip = {
  hours: Hour[]
  /** The height of the base line above the bottom, as a share of the strip. */
  base: number
  total: number
  succeeded: number
  failed: number
  /** Cancelled, skipped and unfinished runs. */
  other: number
}

/** The runs of the last day by hour, oldest first, on one scale. */
export function stripOf(buckets: readonly Bucket[]): Strip {
  const sum = (of: (bucket: Bucket) => number) => buckets.reduce((total, bucket) => total + of(bucket), 0)
  const highest = Math.max(0, ...buckets.map(({ total, failed }) => total - failed))
  const lowest = Math.max(0, ...buckets.map(({ failed }) => failed))
  const share = (runs: number) => (runs === 0 ? 0 : runs / (highest + lowest))
  const [total, succeeded, failed] = [sum((each) => each.total), sum((each) => each.success), sum(failedOf)]
  return {
    hours: buckets.map((each) => ({
      at: Date.parse(each.bucket),
      total: each.total,
      failed: each.failed,
      above: share(each.total - each.failed),
      below: share(each.failed),
    })),
    base: share(lowest),
    total,
    succeeded,
    failed,
    other: total - succeeded - failed,
  }
}

const failedOf = ({ failed }: Bucket) => failed

type AgentRuns = { name: string; task_count: number }

/** The agents that ran, the busiest first. */
export function busiestOf<Agent extends AgentRuns>(agents: readonly Agent[]): Agent[] {
  return agents
    .filter(({ task_count }) => task_count > 0)
    .sort((one, other) => other.task_count - one.task_count || one.name.localeCompare(other.name))
}
