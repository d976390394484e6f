import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { TabCount } from '../../ui/tabs.tsx'
import { pendingCountQuery } from './count-query.ts'

/** How many notifications are new, on their tab; nothing while none is. */
export function NotificationCount() {
  const { data } = useQuery(pendingCountQuery(useApi()))
  return data && data.count > 0 ? <TabCount count={data.count} /> : null
}
