import type { User } from '@roost/contracts/identity/users'
import { Link } from '@tanstack/react-router'
import { BookOpen, CircleHelp, Search } from 'lucide-react'
import { cx } from '../ui/class-names.ts'
import { Kbd } from '../ui/kbd.tsx'
import { Logo } from './logo.tsx'
import { mainPlaces, visibleTo } from './navigation.ts'
import { paletteKeys } from './palette-keys.ts'
import { PlaceLink, placeLinkClass } from './place-link.tsx'
import { UserMenu } from './user-menu.tsx'

export type ShellProps = { me: User; onSearch(): void }

/** The navigation of wide screens. */
export function Sidebar({ me, onSearch }: ShellProps) {
  return (
    <aside className="sticky top-0 hidden h-dvh w-56 shrink-0 flex-col border-r border-line bg-surface md:flex">
      <div className="flex h-14 items-center pr-3 pl-4">
        <Link to="/" className="flex flex-1 items-center gap-2 font-semibold tracking-tight">
          <Logo className="size-6 text-accent" />
          Roost
        </Link>
      </div>
      <div className="px-3 pb-3">
        <button
          type="button"
          onClick={onSearch}
          className="flex h-8 w-full items-center gap-2 rounded-md border border-line bg-canvas px-2.5 text-left text-muted text-sm hover:border-line-strong"
        >
          <Search aria-hidden className="size-3.5" />
          <span className="flex-1">Search</span>
          <Kbd keys={paletteKeys()} />
        </button>
      </div>
      <nav aria-label="Main" className="flex flex-1 flex-col gap-0.5 px-3">
        {visibleTo(me, mainPlaces).map((place) => (
          <PlaceLink key={place.label} place={place} />
        ))}
      </nav>
      <div className="flex flex-col gap-0.5 border-t border-line p-3">
        <a href="/help" target="_blank" rel="noreferrer" className={cx(placeLinkClass, 'h-8')}>
          <CircleHelp aria-hidden className="size-4" />
          Guides
        </a>
        <a href="/docs" target="_blank" rel="noreferrer" className={cx(placeLinkClass, 'h-8')}>
          <BookOpen aria-hidden className="size-4" />
          API reference
        </a>
        <UserMenu me={me} />
      </div>
    </aside>
  )
}
