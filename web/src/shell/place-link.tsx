import { Link } from '@tanstack/react-router'
import { cx } from '../ui/class-names.ts'
import { activeOptions, type Place } from './navigation.ts'
import { PlaceCount } from './place-count.tsx'

/** Without a height, which is of the place it stands at. */
export const placeLinkClass =
  'flex shrink-0 items-center gap-2.5 rounded-md px-2.5 text-muted text-sm hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink'

type PlaceLinkProps = { place: Place; onClick?: () => void; className?: string }

export function PlaceLink({ place, onClick, className = 'h-8' }: PlaceLinkProps) {
  const Icon = place.icon
  return (
    <Link
      to={place.to}
      search={place.search ?? {}}
      activeOptions={activeOptions(place)}
      onClick={onClick}
      className={cx(placeLinkClass, className)}
    >
      <Icon aria-hidden className="size-4" />
      {place.label}
      <PlaceCount place={place} />
    </Link>
  )
}
