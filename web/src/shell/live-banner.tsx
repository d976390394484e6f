import { WifiOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useLiveState } from './app-context.ts'

/** Shorter interruptions are not shown. */
const patienceMs = 4000

/** Reports that pages poll instead of receiving events. Disappears once the connection is back. */
export function LiveBanner() {
  const state = useLiveState()
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    if (state !== 'down') {
      setShown(false)
      return
    }
    const timer = setTimeout(() => setShown(true), patienceMs)
    return () => clearTimeout(timer)
  }, [state])
  if (!isShown) return null
  return (
    <div
      role="status"
      className="flex items-center gap-2 border-b border-line bg-warning-soft px-4 py-1.5 text-xs text-ink"
    >
      <WifiOff aria-hidden className="size-3.5 shrink-0" />
      Live connection lost. Pages refresh every 15 s until it is restored.
    </div>
  )
}
