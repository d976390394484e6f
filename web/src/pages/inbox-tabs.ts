import { NotificationCount } from '../features/notifications/notification-count.tsx'
import { InboxCount } from '../features/operator-queue/inbox-count.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import type { PageTab } from './tabbed-page.tsx'

/** The tabs in display order; the first one is the default. */
export const inboxTabs: readonly PageTab[] = [
  {
    id: 'queue',
    label: 'Waiting',
    guide: 'how-to/inbox',
    Count: InboxCount,
    Content: lazyPart(async () => (await import('../features/operator-queue/inbox.tsx')).Inbox),
  },
  {
    id: 'resolved',
    label: 'Resolved',
    guide: 'how-to/inbox',
    Content: lazyPart(async () => (await import('../features/operator-queue/resolved.tsx')).Resolved),
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
    id: 'reports',
    label: 'Reports',
    guide: 'how-to/inbox',
    Content: lazyPart(async () => (await import('../features/reports/reports.tsx')).Reports),
  },
]
