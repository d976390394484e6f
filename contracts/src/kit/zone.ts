const minute = 60_000
const day = 24 * 60 * minute

/** Local time of a zone. A local time is milliseconds since 1970, as if its clock showed UTC. */
export type Zone = {
  localAt(time: number): number
  /**
   * Returns when the clocks show `local`: the first occurrence if repeated, or the first instant after the
   * gap if skipped.
   */
  timeAt(local: number): number
}

/** `name` is an IANA zone or alias; throws a RangeError for anything else. */
export function openZone(name: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  const isUtc = ['UTC', 'Etc/UTC', 'GMT'].includes(format.resolvedOptions().timeZone)
  const offsetAt = isUtc ? () => 0 : (time: number) => readLocal(format, time) - wholeSeconds(time)

  function timeAt(local: number): number {
    // Zones differ from UTC by at most 14 hours, so these are before and after any change. No clock changes
    // twice in between.
    const before = offsetAt(local - day)
    const after = offsetAt(local + day)
    if (before === after) return local - before
    const [first, second] = [local - Math.max(before, after), local - Math.min(before, after)]
    for (const time of [first, second]) if (local - time === offsetAt(time)) return time
    return firstWith(after, { from: local - day, to: local + day })
  }

  /** Returns the instant from which `offset` applies; it applies at `to` but not at `from`. */
  function firstWith(offset: number, { from, to }: { from: number; to: number }): number {
    let [old, fresh] = [Math.floor(from / 1000), Math.ceil(to / 1000)]
    while (fresh - old > 1) {
      const middle = Math.floor((old + fresh) / 2)
      if (offsetAt(middle * 1000) === offset) fresh = middle
      else old = middle
    }
    return fresh * 1000
  }

  return { localAt: (time) => time + offsetAt(time), timeAt }
}

/** Reads the digits of the formatted text, because `formatToParts` is four times slower. */
function readLocal(format: Intl.DateTimeFormat, time: number): number {
  const [month = 1, day = 1, year = 1970, hour = 0, minutes = 0, seconds = 0] = (
    format.format(time).match(/\d+/g) ?? []
  ).map(Number)
  return Date.UTC(year, month - 1, day, hour, minutes, seconds)
}

function wholeSeconds(time: number): number {
  return Math.floor(time / 1000) * 1000
}
