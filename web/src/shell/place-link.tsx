import { Link } from '@tanstack/react-router'
import { cx } from '../ui/class-names.ts'
import { mainIcons } from './main-icons.ts'
import type { MainPlace } from './navigation.ts'
import { WaitingCount } from './waiting-count.tsx'

/** A navigation link. Its container sets the height. */
export const placeLinkClass =
  'flex shrink-0 items-center gap-2.5 rounded-md px-2.5 text-muted text-sm hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink'

type PlaceLinkProps = { place: MainPlace; onClick?: () => void; className?: string }

export function PlaceLink({ place, onClick, className = 'h-8' }: PlaceLinkProps) {
  const Icon = mainIcons[place.label]
  return (
    <Link
      to={place.to}
      search={{}}
      activeOptions={{ exact: place.to === '/', includeSearch: false }}
      onClick={onClick}
      className={cx(placeLinkClass, className)}
    >
      <Icon aria-hidden className="size-4" />
      {place.label}
      {'hasCount' in place && <WaitingCount className="ml-auto" />}
    </Link>
  )
}
