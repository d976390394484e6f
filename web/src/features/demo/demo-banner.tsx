import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { FlaskConical, X } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { demoQuery } from './queries.ts'
import { RemoveDemoButton } from './remove-demo.tsx'

const dismissedKey = 'roost:demo-dismissed'

/** Tells on every page that answers are scripted. Stays away for the rest of the browser session once dismissed. */
export function DemoBanner({ isAdmin }: { isAdmin: boolean }) {
  const [isDismissed, setDismissed] = useState(wasDismissed)
  if (isDismissed) return null
  const dismiss = () => {
    remember()
    setDismissed(true)
  }
  return (
    <section
      aria-label="Demo"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-info-soft px-4 py-1.5 text-xs text-ink"
    >
      <FlaskConical aria-hidden className="size-3.5 shrink-0" />
      <p className="min-w-0 flex-1 basis-56">
        Demo: answers are scripted, no model is called. {isAdmin && <AdminHint />}
      </p>
      {isAdmin && <DemoData />}
      <button
        type="button"
        aria-label="Dismiss the demo notice"
        onClick={dismiss}
        className="ml-auto grid size-6 shrink-0 place-items-center rounded-sm text-muted hover:text-ink"
      >
        <X aria-hidden className="size-3.5" />
      </button>
    </section>
  )
}

function AdminHint() {
  return (
    <>
      For real answers,{' '}
      <Link to="/settings" search={{ tab: 'integrations' }} className="font-medium underline">
        add a model key
      </Link>{' '}
      and restart without <code className="whitespace-nowrap">--demo</code>.
    </>
  )
}

function DemoData() {
  const { data: demo } = useQuery(demoQuery(useApi()))
  if (!demo) return null
  return (
    <>
      {demo.state === 'waiting' && <span role="status">Creating the demo agents…</span>}
      <RemoveDemoButton agents={demo.agents} />
    </>
  )
}

function wasDismissed(): boolean {
  try {
    return sessionStorage.getItem(dismissedKey) !== null
  } catch {
    return false
  }
}

function remember(): void {
  try {
    sessionStorage.setItem(dismissedKey, 'yes')
  } catch {
    // Dismissed until the page is loaded again.
  }
}
