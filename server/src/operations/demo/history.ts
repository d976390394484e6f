import type { ExecutionErrorCode } from '@roost/contracts/runs/executions'

/** A run of an earlier day, as it is written into the history. */
export type PastRun = {
  at: Date
  message: string
  isFailed: boolean
  seconds: number
  inputTokens: number
  outputTokens: number
}

export const pastFailure: { error: string; error_code: ExecutionErrorCode } = {
  error: 'The provider limits the rate of requests.',
  error_code: 'rate_limited',
}

/** Together with the runs of today: 14 days. */
const pastDays = 13
const dayMs = 86_400_000
const firstHour = 8

/** Midnight in UTC, `days` days before `now`. */
export function dayOf(now: Date, days: number): Date {
  return new Date(Math.floor(now.getTime() / dayMs - days) * dayMs)
}

/** Past runs, oldest first. The same numbers in every installation: they look irregular, but are not random. */
export function pastRuns(
  now: Date,
  { runsPerDay, messages, hour }: { runsPerDay: number; messages: readonly string[]; hour: number | null },
): PastRun[] {
  const runs: PastRun[] = []
  for (let days = pastDays; days >= 1; days -= 1) {
    const count = hour === null ? 1 + ((days * 5 + 2) % runsPerDay) : runsPerDay
    for (let index = 0; index < count; index += 1) {
      const spread = (days * 37 + index * 53) % 100
      const minutes = hour === null ? (firstHour + index * 3) * 60 + (spread % 50) : hour * 60
      runs.push({
        at: new Date(dayOf(now, days).getTime() + minutes * 60_000),
        message: messages[(days + index) % messages.length] ?? '',
        isFailed: (days * 3 + index * 7) % 19 === 0,
        seconds: 20 + spread * 2,
        inputTokens: 40_000 + spread * 2_600,
        outputTokens: 900 + spread * 55,
      })
    }
  }
  return runs
}
