import { useQuery } from '@tanstack/react-query'
import { pendingCountQuery } from '../features/notifications/count-query.ts'
import { queueStatsQuery } from '../features/operator-queue/stats-query.ts'
import { plural } from '../lib/format.ts'
import { cx } from '../ui/class-names.ts'
import { useApi } from './app-context.ts'

/** The number of inbox items and new notifications. */
export function WaitingBadge({ className }: { className?: string }) {
  const api = useApi()
  const queue = useQuery(queueStatsQuery(api)).data
  const notifications = useQuery(pendingCountQuery(api)).data?.count ?? 0
  const inboxItems = queue?.pending ?? 0
  if (inboxItems + notifications === 0) return null
  const isUrgent = (queue?.by_priority.critical ?? 0) > 0
  return (
    <span
      data-numeric
      title={`${plural(inboxItems, 'item')} in the inbox, ${plural(notifications, 'new notification')}`}
      className={cx(
        'rounded-full px-1.5 text-2xs font-medium leading-4',
        isUrgent ? 'bg-danger text-danger-ink' : 'bg-accent text-accent-ink',
        className,
      )}
    >
      {inboxItems + notifications > 99 ? '99+' : inboxItems + notifications}
      <span className="sr-only"> waiting</span>
    </span>
  )
}
