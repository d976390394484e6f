import type { ExecutionSummary } from '@roost/contracts/runs/executions'

/** One run on the time axis; positions are shares of the axis length. */
export type Mark = { run: ExecutionSummary; left: number; width: number }
export type Lane = { name: string; marks: readonly Mark[]; failed: number }

/**
 * The runs of each agent between two times (Unix ms), oldest first. Agents without runs get an empty lane. A
 * running run lasts until `to`; one that never started is a point at its creation.
 */
export function lanesOf(
  names: readonly string[],
  runs: readonly ExecutionSummary[],
  { from, to }: { from: number; to: number },
): Lane[] {
  const byName = Map.groupBy(runs, (run) => run.agent_name)
  return names.map((name) => {
    const marks = (byName.get(name) ?? [])
      .map((run) => markOf(run, from, to))
      .filter((mark) => mark !== null)
      .sort((one, other) => one.left - other.left)
    return { name, marks, failed: marks.filter(({ run }) => run.status === 'failed').length }
  })
}

function markOf(run: ExecutionSummary, from: number, to: number): Mark | null {
  const start = Date.parse(run.started_at ?? run.created_at)
  const end = run.status === 'running' ? to : Date.parse(run.completed_at ?? run.started_at ?? run.created_at)
  if (end < from || start > to) return null
  const share = (at: number) => Math.min(1, Math.max(0, (at - from) / (to - from)))
  return { run, left: share(start), width: Math.max(0, share(end) - share(start)) }
}

/** Round times on the axis, with their position as a share of its length. */
export function ticksOf(
  { from, to }: { from: number; to: number },
  most: number,
): { at: number; left: number }[] {
  const hour = 3_600_000
  const steps = [hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour, 48 * hour, 7 * 24 * hour]
  const step = steps.find((each) => (to - from) / each <= most) ?? 7 * 24 * hour
  const ticks: { at: number; left: number }[] = []
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    ticks.push({ at, left: (at - from) / (to - from) })
  }
  return ticks
}
