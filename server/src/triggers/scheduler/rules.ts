import { mostMisfires } from '@roost/contracts/triggers/scheduler-calls'
import type { MisfirePolicy } from '@roost/contracts/triggers/schedules'

/** A due time that was missed by at most this long is made up for. */
export const graceSeconds = 3600
/** Up to here a fire is on time, whatever the schedule wants done with missed ones. */
export const onTimeSeconds = 60
/** Of times beyond the grace so many are counted: a schedule of each minute has half a million in a year. */
export const mostCounted = 100

/** What is to be done about the due times of one schedule up to now. Times are milliseconds since 1970. */
export type Plan = {
  /** In order. `isCatchUp`: one of several, which wait for each other in line. */
  fire: { dueAt: number; isCatchUp: boolean }[]
  missed: { dueAt: number; reason: string }[]
}

/**
 * `next` answers the first due time after another one. Those within the grace are fired as the policy says, the
 * rest of them are recorded one by one; those beyond it are recorded together, at the newest of them.
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
/** Looked back so far, step by step, for the newest time of a long stretch. */
const lookBack = [hour, 24 * hour, 32 * 24 * hour, 367 * 24 * hour]

function outsideGrace(
  next: (after: number) => number | null,
  stretch: { after: number; until: number },
): { dueAt: number; reason: string }[] {
  const first = next(stretch.after)
  if (first === null || first > stretch.until) return []
  let [count, newest] = [1, first]
  for (; count < mostCounted; count += 1) {
    const time = next(newest)
    if (time === null || time > stretch.until) break
    newest = time
  }
  if (count === 1) return [{ dueAt: first, reason: 'outside_grace' }]
  const isMore = count === mostCounted
  const since = new Date(first).toISOString()
  return [
    {
      dueAt: isMore ? newestOf(next, { after: newest, until: stretch.until }) : newest,
      reason: `outside_grace: ${isMore ? 'at least ' : ''}${count} fires since ${since}`,
    },
  ]
}

/** The last time up to `until`; `after` is one of them. */
function newestOf(
  next: (after: number) => number | null,
  { after, until }: { after: number; until: number },
): number {
  for (const back of lookBack) {
    if (until - back <= after) break
    const newest = timesIn(next, { after: until - back, until }).at(-1)
    if (newest !== undefined) return newest
  }
  return timesIn(next, { after, until }).at(-1) ?? after
}

/**
 * Which of the due times that nobody saw to are fired after all, oldest first; the others are missed. `due`
 * are those within the grace, oldest first.
 */
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
