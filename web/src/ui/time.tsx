import { useEffect, useState } from 'react'
import { formatDuration, formatExactTime, formatRelativeTime, relativeTimeStaysFor } from '../lib/format.ts'

/** A time from the API (ISO 8601), as Unix milliseconds or a `Date`; null is shown as a dash. */
export type Instant = string | number | Date | null | undefined

/** `3 min ago`, with the exact local time on hover. Updates itself while visible. */
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

/** The exact local time, with the relative one on hover. */
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

/** A duration in milliseconds; null (unknown) is shown as a dash. */
export function Duration({ ms, className }: { ms: number | null | undefined; className?: string }) {
  if (ms === null || ms === undefined) return <span className="text-faint">–</span>
  return (
    <span data-numeric title={`${Math.round(ms).toLocaleString()} ms`} className={className}>
      {formatDuration(ms)}
    </span>
  )
}

/** A running duration, counted from its start. */
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
  const [knownAt, setKnownAt] = useState(at)
  // A new time may lie after the last update, and would read as a future time.
  if (knownAt !== at) {
    setKnownAt(at)
    setNow(Date.now())
  }
  useEffect(() => {
    if (at === null) return
    const update = () => document.hidden || setNow(Date.now())
    const timer = setTimeout(update, relativeTimeStaysFor(at, now))
    // Stops while the page is hidden, and catches up when it is shown.
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
