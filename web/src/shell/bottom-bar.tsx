import type { User } from '@roost/contracts/identity/users'
import { Link } from '@tanstack/react-router'
import { Bot, Inbox, type LucideIcon, Menu as MenuIcon, MessagesSquare } from 'lucide-react'
import { Suspense, useState } from 'react'
import { cx } from '../ui/class-names.ts'
import { lazyPart } from '../ui/lazy-part.tsx'
import { WaitingCount } from './waiting-count.tsx'

const PlacesSheet = lazyPart(async () => (await import('./places-sheet.tsx')).PlacesSheet)

const places: readonly { label: string; to: '/inbox' | '/workspace' | '/agents'; icon: LucideIcon }[] = [
  { label: 'Inbox', to: '/inbox', icon: Inbox },
  { label: 'Chat', to: '/workspace', icon: MessagesSquare },
  { label: 'Agents', to: '/agents', icon: Bot },
]

const itemClass =
  'relative flex min-w-0 flex-1 flex-col items-center justify-center gap-0.5 text-2xs text-muted hover:text-ink aria-[current=page]:font-medium aria-[current=page]:text-accent [&>svg]:size-5'

/** The main places of narrow screens within reach of the thumb; the menu has the others. */
export function BottomBar({ me }: { me: User }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <nav
        aria-label="Bottom bar"
        className="bottom-bar sticky bottom-0 z-20 flex h-(--bottom-bar) shrink-0 border-line border-t bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
      >
        {places.map(({ label, to, icon: Icon }) => (
          <Link key={to} to={to} search={{}} activeOptions={{ includeSearch: false }} className={itemClass}>
            <Icon aria-hidden />
            {label}
            {to === '/inbox' && <WaitingCount className="absolute top-1 left-[calc(50%+0.5rem)]" />}
          </Link>
        ))}
        <button
          type="button"
          aria-haspopup="dialog"
          onClick={() => setOpen(true)}
          className={cx(itemClass, 'cursor-pointer')}
        >
          <MenuIcon aria-hidden />
          Menu
        </button>
      </nav>
      {isOpen && (
        <Suspense fallback={null}>
          <PlacesSheet me={me} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
