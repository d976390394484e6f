import { RelativeTime } from '../../ui/time.tsx'
import { dueWords, isSameClock, ownZone } from './time-words.ts'

/** Upcoming times in the user's time zone, and in the schedule's zone when it differs. */
export function DueTimes({ times, zone }: { times: readonly (Date | string)[]; zone: string }) {
  const own = ownZone()
  return (
    <ol className="flex flex-col text-sm">
      {times.map((time) => {
        const at = new Date(time).getTime()
        return (
          <li key={at} className="flex flex-wrap items-baseline justify-between gap-x-4 py-0.5">
            <span data-numeric>
              {dueWords(at)}
              {!isSameClock(at, zone, own) && (
                <span className="text-faint text-xs">
                  {' '}
                  · {dueWords(at, { timeZone: zone })} (schedule time zone)
                </span>
              )}
            </span>
            <RelativeTime at={at} className="text-muted text-xs" />
          </li>
        )
      })}
    </ol>
  )
}
