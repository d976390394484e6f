import { Link } from '@tanstack/react-router'
import { Bell, Inbox } from 'lucide-react'
import { PlaceCount } from './place-count.tsx'

const places = {
  inbox: { tab: 'queue', label: 'Inbox', Icon: Inbox },
  notifications: { tab: 'notifications', label: 'Notifications', Icon: Bell },
} as const

/** A sign with how much is new, in the bars of the frame. */
export function CountLink({ to }: { to: keyof typeof places }) {
  const { tab, label, Icon } = places[to]
  return (
    <Link
      to="/operations"
      search={{ tab }}
      activeOptions={{ includeSearch: true }}
      title={label}
      className="inline-flex h-8 min-w-8 shrink-0 items-center justify-center gap-1 rounded-md px-1.5 text-muted hover:bg-hover hover:text-ink aria-[current=page]:text-ink"
    >
      <Icon aria-hidden className="size-4" />
      <span className="sr-only">{label}</span>
      <PlaceCount place={{ count: to }} />
    </Link>
  )
}
