import type { TimelineGroup } from '@roost/contracts/runs/fleet'
import { formatClock, formatDate, type Locale } from '../../lib/format.ts'

/** What a bucket of a timeline is called on an axis. Hours are the person's; days are those of UTC, as counted. */
export function bucketLabel(bucket: string, group: TimelineGroup, locale: Locale = {}): string {
  const at = Date.parse(bucket)
  if (Number.isNaN(at) || group === 'trigger' || group === 'agent') return bucket
  if (group === 'day') return formatDate(at, at, { ...locale, timeZone: 'UTC' })
  return `${formatDate(at, at, locale)}, ${formatClock(at, locale)}`
}
