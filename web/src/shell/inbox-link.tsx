import { Link } from '@tanstack/react-router'
import { Inbox } from 'lucide-react'
import { WaitingCount } from './waiting-count.tsx'

/** The waiting count in the top bar of narrow screens, where the menu is closed. */
export function InboxLink() {
  return (
    <Link
      to="/inbox"
      search={{}}
      activeOptions={{ includeSearch: false }}
      title="Inbox"
      className="inline-flex h-8 min-w-8 shrink-0 items-center justify-center gap-1 rounded-md px-1.5 text-muted hover:bg-hover hover:text-ink aria-[current=page]:text-ink"
    >
      <Inbox aria-hidden className="size-4" />
      <span className="sr-only">Inbox</span>
      <WaitingCount />
    </Link>
  )
}
