import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { TabCount } from '../../ui/tabs.tsx'
import { queueStatsQuery } from './stats-query.ts'

/** The number of pending items, shown on the tab. */
export function InboxCount() {
  const { data } = useQuery(queueStatsQuery(useApi()))
  return data && data.pending > 0 ? <TabCount count={data.pending} /> : null
}
