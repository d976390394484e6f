import type { TimelineGroup } from '@roost/contracts/runs/fleet-executions'
import { formatClock, formatDate, type Locale } from '../../lib/format.ts'

/** The axis label of a timeline bucket. Hours are local; days are in UTC, as the API counts them. */
export function bucketLabel(bucket: string, group: TimelineGroup, locale: Locale = {}): string {
  const at = Date.parse(bucket)
  if (Number.isNaN(at) || group === 'trigger' || group === 'agent') return bucket
  if (group === 'day') return formatDate(at, at, { ...locale, timeZone: 'UTC' })
  return `${formatDate(at, at, locale)}, ${formatClock(at, locale)}`
}
