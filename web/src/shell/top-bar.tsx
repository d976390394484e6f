import { Link } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useRef } from 'react'
import { IconButton } from '../ui/button.tsx'
import { useCurrentInView } from '../ui/use-current-in-view.ts'
import { Logo } from './logo.tsx'
import { activeOptions, mainPlaces } from './navigation.ts'
import { PlaceCount } from './place-count.tsx'
import type { ShellProps } from './sidebar.tsx'
import { UserMenu } from './user-menu.tsx'

/** The navigation of narrow screens: a bar above, the main places below it. */
export function TopBar({ me, onSearch }: ShellProps) {
  const places = useRef<HTMLElement>(null)
  useCurrentInView(places)
  return (
    <header className="sticky top-0 z-20 border-b border-line bg-surface md:hidden">
      <div className="flex h-12 items-center gap-1 px-3">
        <Link to="/" className="flex flex-1 items-center gap-2 font-semibold tracking-tight">
          <Logo className="size-5 text-accent" />
          Roost
        </Link>
        <IconButton label="Search" icon={<Search />} onClick={onSearch} />
        <UserMenu me={me} compact />
      </div>
      <nav ref={places} aria-label="Main" className="flex gap-1 overflow-x-auto px-2 pb-1.5">
        {mainPlaces().map((place) => (
          <Link
            key={place.label}
            to={place.to}
            search={place.search ?? {}}
            activeOptions={activeOptions(place)}
            className="inline-flex shrink-0 items-center gap-1.5 rounded-md px-2.5 py-1 text-muted text-sm aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink"
          >
            {place.label}
            <PlaceCount place={place} />
          </Link>
        ))}
      </nav>
    </header>
  )
}
