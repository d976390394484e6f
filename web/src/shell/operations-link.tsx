import { Link } from '@tanstack/react-router'
import { Inbox } from 'lucide-react'
import { WaitingCount } from './waiting-count.tsx'

/** A sign with how much waits, in the bar of phones, where the places are behind a button. */
export function OperationsLink() {
  return (
    <Link
      to="/operations"
      search={{}}
      activeOptions={{ includeSearch: false }}
      title="Operations"
      className="inline-flex h-8 min-w-8 shrink-0 items-center justify-center gap-1 rounded-md px-1.5 text-muted hover:bg-hover hover:text-ink aria-[current=page]:text-ink"
    >
      <Inbox aria-hidden className="size-4" />
      <span className="sr-only">Operations</span>
      <WaitingCount />
    </Link>
  )
}
