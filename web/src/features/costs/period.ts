/** The periods that the page offers. Days are in UTC, as the platform counts costs and limits. */
export const periods = [
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: '90d', label: 'Last 90 days' },
  { value: 'month', label: 'This month' },
  { value: 'last-month', label: 'Last month' },
  { value: 'custom', label: 'Custom period' },
] as const
export type PeriodName = (typeof periods)[number]['value']

export type PeriodSearch = { period?: string | undefined; from?: string | undefined; to?: string | undefined }
/** The first and the last day, both inclusive. */
export type Days = { from: string; to: string }

const dayMs = 86_400_000

/** The period of an address; 30 days by default. Days of an address are passed on unchecked, for the API to judge. */
export function periodOf(search: PeriodSearch, now: number): Days & { name: PeriodName } {
  const today = dayOf(now)
  if (search.from !== undefined || search.to !== undefined) {
    return { name: 'custom', from: search.from ?? daysBefore(now, 29), to: search.to ?? today }
  }
  const date = new Date(now)
  const monthStart = (offset: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1)
  switch (search.period) {
    case '7d':
      return { name: '7d', from: daysBefore(now, 6), to: today }
    case '90d':
      return { name: '90d', from: daysBefore(now, 89), to: today }
    case 'month':
      return { name: 'month', from: dayOf(monthStart(0)), to: today }
    case 'last-month':
      return { name: 'last-month', from: dayOf(monthStart(-1)), to: daysBefore(monthStart(0), 1) }
    default:
      return { name: '30d', from: daysBefore(now, 29), to: today }
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function daysBefore(ms: number, days: number): string {
  return dayOf(ms - days * dayMs)
}
