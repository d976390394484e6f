import type { Locale } from '../../lib/format.ts'

/** `Tue, 24 Nov, 03:00`, in the person's zone unless another one is named. */
export function dueWords(at: number, { language, timeZone }: Locale = {}): string {
  return new Intl.DateTimeFormat(language, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone,
  }).format(at)
}

export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Whether clocks in both zones show the same at that time. */
export function isSameClock(at: number, one: string, other: string): boolean {
  return dueWords(at, { timeZone: one }) === dueWords(at, { timeZone: other })
}

/** Some systems' names for UTC. */
const otherNamesOfUtc = /^(Etc\/)?(UTC|UCT|GMT|Zulu|Universal|Greenwich)$/

/** A zone as it is shown: `UTC`, `America/New York`. */
export function zoneWords(zone: string): string {
  return otherNamesOfUtc.test(zone) ? 'UTC' : zone.replaceAll('_', ' ')
}

/** Every zone the browser knows, UTC first. */
export function zoneNames(): string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]
}

/** Also aliases, which are not among the names; offsets are no zones. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
