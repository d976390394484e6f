/** Lengths of the prefixes of UTC timestamps that identify the hour or the day. */
const widths = { hour: 13, day: 10 }
const lengths = { hour: 3_600_000, day: 86_400_000 }

/**
 * Returns every UTC hour (`2026-01-31T08`) or day (`2026-01-31`) that touches the span, in order. Empty when
 * `to` is before `from`.
 */
export function spansBetween(unit: 'hour' | 'day', from: Date, to: Date): string[] {
  const length = lengths[unit]
  const spans: string[] = []
  for (let start = Math.floor(from.getTime() / length) * length; start <= to.getTime(); start += length) {
    spans.push(new Date(start).toISOString().slice(0, widths[unit]))
  }
  return spans
}

/** Returns `count` UTC days ending with that of `last`. */
export function lastDays(count: number, last: Date): string[] {
  return spansBetween('day', new Date(last.getTime() - (count - 1) * lengths.day), last)
}
