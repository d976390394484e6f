import { NotificationCount } from '../features/notifications/notification-count.tsx'
import { InboxCount } from '../features/operator-queue/inbox-count.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import type { PageTab } from './tabbed-page.tsx'

/** The tabs in display order; the first one is the default. */
export const operationsTabs: readonly PageTab[] = [
  {
    id: 'queue',
    label: 'Inbox',
    guide: 'how-to/inbox',
    Count: InboxCount,
    Content: lazyPart(async () => (await import('../features/operator-queue/inbox.tsx')).Inbox),
  },
  {
    id: 'notifications',
    label: 'Notifications',
    guide: 'how-to/inbox',
    Count: NotificationCount,
    Content: lazyPart(
      async () => (await import('../features/notifications/notifications.tsx')).Notifications,
    ),
  },
  {
    id: 'health',
    label: 'Fleet health',
    guide: 'how-to/health',
    Content: lazyPart(async () => (await import('../features/monitoring/fleet-health.tsx')).FleetHealth),
  },
  {
    id: 'executions',
    label: 'Runs',
    guide: 'concepts/runs',
    Content: lazyPart(
      async () => (await import('../features/executions/fleet-executions.tsx')).FleetExecutions,
    ),
  },
  {
    id: 'schedules',
    label: 'Schedules',
    guide: 'operate/schedules',
    Content: lazyPart(async () => (await import('../features/schedules/fleet-schedules.tsx')).FleetSchedules),
  },
  {
    id: 'reports',
    label: 'Reports',
    guide: 'how-to/inbox',
    Content: lazyPart(async () => (await import('../features/reports/reports.tsx')).Reports),
  },
  {
    id: 'permissions',
    label: 'Agent permissions',
    guide: 'operate/sharing',
    Content: lazyPart(
      async () => (await import('../features/permissions/fleet-permissions.tsx')).FleetPermissions,
    ),
  },
  {
    id: 'resolved',
    label: 'Resolved',
    guide: 'how-to/inbox',
    Content: lazyPart(async () => (await import('../features/operator-queue/resolved.tsx')).Resolved),
  },
]
