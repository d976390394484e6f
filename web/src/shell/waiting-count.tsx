import { type ComponentProps, Suspense } from 'react'
import { lazyPart } from '../ui/lazy-part.tsx'
import type { WaitingBadge } from './waiting-badge.tsx'

/** The number of items waiting in the inbox; renders nothing at zero. */
export function WaitingCount(props: ComponentProps<typeof WaitingBadge>) {
  return (
    <Suspense fallback={null}>
      <Badge {...props} />
    </Suspense>
  )
}

const Badge = lazyPart(
  async () => (await import('./waiting-badge.tsx')).WaitingBadge,
  // The page works without the badge.
  () => null,
)
