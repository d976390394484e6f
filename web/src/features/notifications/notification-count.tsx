import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { TabCount } from '../../ui/tabs.tsx'
import { pendingCountQuery } from './count-query.ts'

/** The number of new notifications, shown on the tab. */
export function NotificationCount() {
  const { data } = useQuery(pendingCountQuery(useApi()))
  return data && data.count > 0 ? <TabCount count={data.count} /> : null
}
