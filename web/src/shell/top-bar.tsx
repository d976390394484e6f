import { Link } from '@tanstack/react-router'
import { Menu as MenuIcon, Search } from 'lucide-react'
import { Suspense, useState } from 'react'
import { IconButton } from '../ui/button.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import { InboxLink } from './inbox-link.tsx'
import { Logo } from './logo.tsx'
import type { ShellProps } from './sidebar.tsx'
import { UserMenu } from './user-menu.tsx'

const PlacesSheet = lazyPart(async () => (await import('./places-sheet.tsx')).PlacesSheet)

/** The navigation of narrow screens: a bar with a menu button. */
export function TopBar({ me, onSearch }: ShellProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <header className="sticky top-0 z-20 border-b border-line bg-surface md:hidden">
      <div className="flex h-12 items-center gap-1 pr-2 pl-3">
        <Link to="/" className="flex flex-1 items-center gap-2 font-semibold tracking-tight">
          <Logo className="size-5 text-accent" />
          Roost
        </Link>
        <InboxLink />
        <IconButton label="Search" icon={<Search />} onClick={onSearch} />
        <UserMenu me={me} compact />
        <IconButton label="Menu" icon={<MenuIcon />} aria-haspopup="dialog" onClick={() => setOpen(true)} />
      </div>
      {isOpen && (
        <Suspense fallback={null}>
          <PlacesSheet me={me} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </header>
  )
}
