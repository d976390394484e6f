import type { Notification } from '@roost/contracts/operations/notifications'
import type { NotificationsTable } from './tables.ts'

/** The notification as it is answered. */
export function shownNotification(row: NotificationsTable, agentName: string): Notification {
  const { agent_id: _, metadata, ...rest } = row
  // The column holds JSON that this feature wrote itself.
  return { ...rest, agent_name: agentName, metadata: metadata === null ? null : JSON.parse(metadata) }
}
