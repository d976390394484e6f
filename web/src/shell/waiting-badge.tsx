import { useQuery } from '@tanstack/react-query'
import { pendingCountQuery } from '../features/notifications/count-query.ts'
import { queueStatsQuery } from '../features/operator-queue/stats-query.ts'
import { plural } from '../lib/format.ts'
import { cx } from '../ui/class-names.ts'
import { useApi } from './app-context.ts'

/** What waits in the inbox, and what is new of what agents told, as one number. */
export function WaitingBadge({ className }: { className?: string }) {
  const api = useApi()
  const queue = useQuery(queueStatsQuery(api)).data
  const told = useQuery(pendingCountQuery(api)).data?.count ?? 0
  const asked = queue?.pending ?? 0
  if (asked + told === 0) return null
  const isUrgent = (queue?.by_priority.critical ?? 0) > 0
  return (
    <span
      data-numeric
      title={`${plural(asked, 'item')} in the inbox, ${plural(told, 'new notification')}`}
      className={cx(
        'rounded-full px-1.5 text-2xs font-medium leading-4',
        isUrgent ? 'bg-danger text-danger-ink' : 'bg-accent text-accent-ink',
        className,
      )}
    >
      {asked + told > 99 ? '99+' : asked + told}
      <span className="sr-only"> waiting</span>
    </span>
  )
}
