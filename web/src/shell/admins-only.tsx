import { Link } from '@tanstack/react-router'
import { ShieldAlert } from 'lucide-react'
import { buttonClass } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'

/** Shown to other users instead of a page for admins. `what` completes "Only admins can …". */
export function AdminsOnly({ what }: { what: string }) {
  return (
    <EmptyState
      icon={<ShieldAlert aria-hidden />}
      title={`Only admins can ${what}`}
      description="Your own settings are on the account page."
      action={
        <Link to="/account" className={buttonClass()}>
          Go to account
        </Link>
      }
    />
  )
}
