import { useEffect, useState } from 'react'
import { formatDuration, formatExactTime, formatRelativeTime, relativeTimeStaysFor } from '../lib/format.ts'

/** An instant as the API writes it (ISO 8601), as milliseconds since 1970 or as a date; null is shown as a dash. */
export type Instant = string | number | Date | null | undefined

/** `3 min ago`, with the exact time in the person's zone on hover. Keeps itself true while it is in view. */
export function RelativeTime({ at, className }: { at: Instant; className?: string }) {
  const ms = toMs(at)
  const now = useNow(ms)
  if (ms === null) return <span className="text-faint">–</span>
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatExactTime(ms)} className={className}>
      {formatRelativeTime(ms, now)}
    </time>
  )
}

/** The exact time in the person's zone, with the relative one on hover. */
export function ExactTime({ at, className }: { at: Instant; className?: string }) {
  const ms = toMs(at)
  if (ms === null) return <span className="text-faint">–</span>
  return (
    <time
      dateTime={new Date(ms).toISOString()}
      title={formatRelativeTime(ms, Date.now())}
      className={className}
    >
      {formatExactTime(ms)}
    </time>
  )
}

/** A length of time in milliseconds; null, not known yet, is shown as a dash. */
export function Duration({ ms, className }: { ms: number | null | undefined; className?: string }) {
  if (ms === null || ms === undefined) return <span className="text-faint">–</span>
  return (
    <span data-numeric title={`${Math.round(ms).toLocaleString()} ms`} className={className}>
      {formatDuration(ms)}
    </span>
  )
}

/** A length that is still growing, counted in the page from its start. */
export function RunningDuration({ since, className }: { since: Instant; className?: string }) {
  const start = toMs(since)
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  if (start === null) return <span className="text-faint">–</span>
  const wholeSeconds = Math.max(0, Math.floor((now - start) / 1000)) * 1000
  return (
    <span data-numeric className={className}>
      {wholeSeconds === 0 ? '0 s' : formatDuration(wholeSeconds)}
    </span>
  )
}

function useNow(at: number | null): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (at === null) return
    const update = () => document.hidden || setNow(Date.now())
    const timer = setTimeout(update, relativeTimeStaysFor(at, now))
    // Nothing runs while the page is hidden; it is set right when it is seen again.
    document.addEventListener('visibilitychange', update)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', update)
    }
  }, [at, now])
  return now
}

function toMs(at: Instant): number | null {
  if (at === null || at === undefined) return null
  const ms = new Date(at).getTime()
  return Number.isNaN(ms) ? null : ms
}
