import { mostMisfires } from '@roost/contracts/triggers/scheduler-calls'
import type { MisfirePolicy } from '@roost/contracts/triggers/schedules'

/** A missed due time may still fire within this time. */
export const graceSeconds = 3600
/** Up to this delay a fire is on time, whatever the misfire policy. */
export const onTimeSeconds = 60
/** Times beyond the grace are counted up to this: a schedule of every minute has half a million a year. */
export const maxCounted = 100

/** The handling of one schedule's due times up to now. Times are milliseconds since 1970. */
export type Plan = {
  /** In order. `isCatchUp`: one of several, which queue behind each other. */
  fire: { dueAt: number; isCatchUp: boolean }[]
  missed: { dueAt: number; reason: string }[]
}

/**
 * `next` returns the first due time after another one. Times within the grace fire by the policy, and the others
 * there are recorded one by one. Times beyond the grace get one record, at the newest of them.
 */
export function planOf(
  policy: MisfirePolicy,
  next: (after: number) => number | null,
  { after, now }: { after: number; now: number },
): Plan {
  const graceFrom = now - graceSeconds * 1000
  const within = timesIn(next, { after: Math.max(after, graceFrom - 1), until: now })
  const fired = new Set(timesToFire(policy, within, now))
  return {
    fire: [...fired].map((dueAt) => ({ dueAt, isCatchUp: fired.size > 1 })),
    missed: [
      ...outsideGrace(next, { after, until: graceFrom - 1 }),
      ...within
        .filter((dueAt) => !fired.has(dueAt))
        .map((dueAt) => ({ dueAt, reason: policy === 'skip' ? 'misfire_policy_skip' : 'coalesced' })),
    ],
  }
}

function timesToFire(policy: MisfirePolicy, within: readonly number[], now: number): number[] {
  const newest = within.at(-1)
  const isOnTime = newest !== undefined && now - newest <= onTimeSeconds * 1000
  return policy === 'skip' && isOnTime ? [newest] : misfiresToFire(policy, within)
}

function timesIn(
  next: (after: number) => number | null,
  { after, until }: { after: number; until: number },
): number[] {
  const times: number[] = []
  for (let time = next(after); time !== null && time <= until; time = next(time)) times.push(time)
  return times
}

const hour = 3_600_000
/** Distances to search back, in turn, for the newest time of a long period. */
const searchDistances = [hour, 24 * hour, 32 * 24 * hour, 367 * 24 * hour]

function outsideGrace(
  next: (after: number) => number | null,
  period: { after: number; until: number },
): { dueAt: number; reason: string }[] {
  const first = next(period.after)
  if (first === null || first > period.until) return []
  let [count, newest] = [1, first]
  for (; count < maxCounted; count += 1) {
    const time = next(newest)
    if (time === null || time > period.until) break
    newest = time
  }
  if (count === 1) return [{ dueAt: first, reason: 'outside_grace' }]
  const isMore = count === maxCounted
  const since = new Date(first).toISOString()
  return [
    {
      dueAt: isMore ? newestOf(next, { after: newest, until: period.until }) : newest,
      reason: `outside_grace: ${isMore ? 'at least ' : ''}${count} fires since ${since}`,
    },
  ]
}

/** The last due time up to `until`; `after` is a due time. */
function newestOf(
  next: (after: number) => number | null,
  { after, until }: { after: number; until: number },
): number {
  for (const back of searchDistances) {
    if (until - back <= after) break
    const newest = timesIn(next, { after: until - back, until }).at(-1)
    if (newest !== undefined) return newest
  }
  return timesIn(next, { after, until }).at(-1) ?? after
}

/** Selects the missed due times that fire by the policy. `due` are those within the grace, oldest first. */
function misfiresToFire<T>(policy: MisfirePolicy, due: readonly T[]): T[] {
  switch (policy) {
    case 'run_once':
      return due.slice(-1)
    case 'run_all':
      return due.slice(-mostMisfires)
    case 'skip':
      return []
  }
}
