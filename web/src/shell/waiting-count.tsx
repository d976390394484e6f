import { type ComponentProps, Suspense } from 'react'
import { lazyPart } from '../ui/lazy-part.tsx'
import type { WaitingBadge } from './waiting-badge.tsx'

/** How much waits in Operations; nothing while nothing does. */
export function WaitingCount(props: ComponentProps<typeof WaitingBadge>) {
  return (
    <Suspense fallback={null}>
      <Badge {...props} />
    </Suspense>
  )
}

const Badge = lazyPart(
  async () => (await import('./waiting-badge.tsx')).WaitingBadge,
  // A page is whole without it.
  () => null,
)
