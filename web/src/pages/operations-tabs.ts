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
    id: 'executions',
    label: 'Executions',
    Content: lazyPart(
      async () => (await import('../features/executions/fleet-executions.tsx')).FleetExecutions,
    ),
  },
  {
    id: 'queue',
    label: 'Inbox',
    Content: lazyPart(async () => (await import('../features/operator-queue/inbox.tsx')).Inbox),
  },
  {
    id: 'schedules',
    label: 'Schedules',
    Content: lazyPart(async () => (await import('../features/schedules/fleet-schedules.tsx')).FleetSchedules),
  },
  {
    id: 'permissions',
    label: 'Permissions',
    Content: lazyPart(
      async () => (await import('../features/permissions/fleet-permissions.tsx')).FleetPermissions,
    ),
  },
]
