import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { pendingCountQuery } from './count-query.ts'

/** How many notifications are new, beside the bell; nothing while none is. */
export function NotificationCount() {
  const { data } = useQuery(pendingCountQuery(useApi()))
  if (!data || data.count === 0) return null
  return (
    <span
      data-numeric
      className="rounded-full bg-accent px-1.5 text-2xs font-medium leading-4 text-accent-ink"
    >
      {data.count > 99 ? '99+' : data.count}
      <span className="sr-only"> new</span>
    </span>
  )
}
