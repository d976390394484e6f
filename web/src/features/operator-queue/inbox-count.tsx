import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { queueStatsQuery } from './stats-query.ts'

/** How much waits for a person, beside the way to it; nothing while nothing does. */
export function InboxCount() {
  const { data } = useQuery(queueStatsQuery(useApi()))
  if (!data || data.pending === 0) return null
  const isUrgent = (data.by_priority.critical ?? 0) > 0
  return (
    <span
      data-numeric
      className={`ml-auto rounded-full px-1.5 text-2xs font-medium leading-4 ${isUrgent ? 'bg-danger text-danger-ink' : 'bg-accent text-accent-ink'}`}
    >
      {data.pending > 99 ? '99+' : data.pending}
      <span className="sr-only"> waiting</span>
    </span>
  )
}
