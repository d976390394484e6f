/** The end of a day, `2026-05-31`, in the user's time zone; null without a day. */
export function endOfDay(day: string): string | null {
  return day === '' ? null : new Date(`${day}T23:59:59`).toISOString()
}

/** The day of a time in the user's time zone, as a date field expects it; empty for null. */
export function dayOf(time: string | null): string {
  if (time === null) return ''
  const at = new Date(time)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}
