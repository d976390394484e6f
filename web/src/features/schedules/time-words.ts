import type { Locale } from '../../lib/format.ts'

/** `Tue, 24 Nov, 03:00`, in the user's time zone unless another one is given. */
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

/** Whether both time zones have the same local time at that moment. */
export function isSameClock(at: number, one: string, other: string): boolean {
  return dueWords(at, { timeZone: one }) === dueWords(at, { timeZone: other })
}

/** Names that some systems use for UTC. */
const otherNamesOfUtc = /^(Etc\/)?(UTC|UCT|GMT|Zulu|Universal|Greenwich)$/

/** The display name of a time zone: `UTC`, `America/New York`. */
export function zoneWords(zone: string): string {
  return otherNamesOfUtc.test(zone) ? 'UTC' : zone.replaceAll('_', ' ')
}

/** All time zones of the browser, UTC first. */
export function zoneNames(): string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]
}
