import type {
  NotificationPriority,
  NotificationStatus,
  NotificationType,
} from '@roost/contracts/operations/notifications'

export type NotificationsTable = {
  id: string
  agent_id: string
  notification_type: NotificationType
  title: string
  message: string | null
  priority: NotificationPriority
  category: string | null
  /** JSON object. */
  metadata: string | null
  status: NotificationStatus
  created_at: string
  acknowledged_at: string | null
  /** User name. */
  acknowledged_by: string | null
}

export type NotificationTables = { notifications: NotificationsTable }
