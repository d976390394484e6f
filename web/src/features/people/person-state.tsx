import type { ManagedUser } from '@roost/contracts/identity/people'
import { StatusDot } from '../../ui/badge.tsx'

export function PersonState({ person }: { person: Pick<ManagedUser, 'suspended_at'> }) {
  return person.suspended_at === null ? (
    <StatusDot tone="success" label="Active" />
  ) : (
    <StatusDot tone="danger" label="Suspended" />
  )
}
