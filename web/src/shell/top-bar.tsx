import { Link } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { IconButton } from '../ui/button.tsx'
import { Logo } from './logo.tsx'
import { mainPlaces } from './navigation.ts'
import type { ShellProps } from './sidebar.tsx'
import { UserMenu } from './user-menu.tsx'

/** The navigation of narrow screens: a bar above, the main places below it. */
export function TopBar({ me, onSearch }: ShellProps) {
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
      <nav aria-label="Main" className="flex gap-1 overflow-x-auto px-2 pb-1.5">
        {mainPlaces().map(({ label, to, search }) => (
          <Link
            key={label}
            to={to}
            search={search ?? {}}
            activeOptions={{ exact: to === '/', includeSearch: false }}
            className="rounded-md px-2.5 py-1 text-muted text-sm aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink"
          >
            {label}
          </Link>
        ))}
      </nav>
    </header>
  )
}
