import type { ComponentType } from 'react'
import { lazyPart } from '../ui/lazy-part.tsx'

export type OperationsTab = {
  /** In the address, as `?tab=`. */
  id: string
  label: string
  Content: ComponentType
}

/** The parts of the page in their order; the first one is shown when the address names none. */
export const operationsTabs: readonly OperationsTab[] = [
  {
    id: 'queue',
    label: 'Inbox',
    Content: lazyPart(async () => (await import('../features/operator-queue/inbox.tsx')).Inbox),
  },
  {
    id: 'notifications',
    label: 'Notifications',
    Content: lazyPart(
      async () => (await import('../features/notifications/notifications.tsx')).Notifications,
    ),
  },
  {
    id: 'health',
    label: 'Fleet health',
    Content: lazyPart(async () => (await import('../features/monitoring/fleet-health.tsx')).FleetHealth),
  },
  {
    id: 'executions',
    label: 'Executions',
    Content: lazyPart(
      async () => (await import('../features/executions/fleet-executions.tsx')).FleetExecutions,
    ),
  },
  {
    id: 'schedules',
    label: 'Schedules',
    Content: lazyPart(async () => (await import('../features/schedules/fleet-schedules.tsx')).FleetSchedules),
  },
  {
    id: 'reports',
    label: 'Reports',
    Content: lazyPart(async () => (await import('../features/reports/reports.tsx')).Reports),
  },
  {
    id: 'permissions',
    label: 'Permissions',
    Content: lazyPart(
      async () => (await import('../features/permissions/fleet-permissions.tsx')).FleetPermissions,
    ),
  },
]
