import type { User } from '@roost/contracts/identity/users'
import { Link } from '@tanstack/react-router'
import { BookOpen, CircleHelp, Smartphone } from 'lucide-react'
import { cx } from '../ui/class-names.ts'
import { Sheet } from '../ui/dialog.tsx'
import { mainPlaces, visibleTo } from './navigation.ts'
import { PlaceLink, placeLinkClass } from './place-link.tsx'

/** The main navigation on narrow screens. */
export function PlacesSheet({ me, onClose }: { me: User; onClose: () => void }) {
  return (
    <Sheet open onOpenChange={(open) => !open && onClose()} title="Menu">
      <nav aria-label="Main" className="flex flex-col gap-1">
        {visibleTo(me, mainPlaces).map((place) => (
          <PlaceLink key={place.label} place={place} onClick={onClose} className="h-10" />
        ))}
        <Link to="/m" onClick={onClose} className={cx(placeLinkClass, 'h-10')}>
          <Smartphone aria-hidden className="size-4" />
          Mobile overview
        </Link>
        <a href="/help" target="_blank" rel="noreferrer" className={cx(placeLinkClass, 'h-10')}>
          <CircleHelp aria-hidden className="size-4" />
          Guides
        </a>
        <a href="/docs" target="_blank" rel="noreferrer" className={cx(placeLinkClass, 'h-10')}>
          <BookOpen aria-hidden className="size-4" />
          API reference
        </a>
      </nav>
    </Sheet>
  )
}
