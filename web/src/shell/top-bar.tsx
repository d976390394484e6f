import { Link } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { IconButton } from '../ui/button.tsx'
import { Logo } from './logo.tsx'
import type { ShellProps } from './sidebar.tsx'
import { UserMenu } from './user-menu.tsx'

/** The upper bar of narrow screens; the places are in the bottom bar. */
export function TopBar({ me, onSearch }: ShellProps) {
  return (
    <header className="sticky top-0 z-20 border-b border-line bg-surface pt-[env(safe-area-inset-top)] md:hidden">
      <div className="flex h-12 items-center gap-1 pr-2 pl-3">
        <Link to="/" className="flex flex-1 items-center gap-2 font-semibold tracking-tight">
          <Logo className="size-5 text-accent" />
          Roost
        </Link>
        <IconButton label="Search" icon={<Search />} onClick={onSearch} />
        <UserMenu me={me} compact />
      </div>
    </header>
  )
}
