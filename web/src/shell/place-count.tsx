import { Suspense } from 'react'
import { lazyPart } from '../ui/lazy-part.tsx'
import type { Place } from './navigation.ts'

/** How much waits at a place; nothing at most of them. */
export function PlaceCount({ place }: { place: Pick<Place, 'count'> }) {
  if (place.count === undefined) return null
  return (
    <Suspense fallback={null}>{place.count === 'inbox' ? <InboxCount /> : <NotificationCount />}</Suspense>
  )
}

const InboxCount = lazyPart(
  async () => (await import('../features/operator-queue/inbox-count.tsx')).InboxCount,
  // A page is whole without it.
  () => null,
)

const NotificationCount = lazyPart(
  async () => (await import('../features/notifications/notification-count.tsx')).NotificationCount,
  () => null,
)
