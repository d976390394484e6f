import { Link } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { buttonClass } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'

export function NotFound() {
  return (
    <main className="grid min-h-96 place-items-center p-6">
      <EmptyState
        isPage
        icon={<Compass />}
        title="Page not found"
        description="The link may be outdated, or its target was renamed or deleted."
        action={
          <Link to="/" className={buttonClass({ variant: 'secondary' })}>
            Go to home
          </Link>
        }
      />
    </main>
  )
}
