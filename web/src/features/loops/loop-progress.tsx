import type { Loop } from '@roost/contracts/runs/loops'
import { useEffect, useState } from 'react'
import { costText, formatCost, formatDuration, plural } from '../../lib/format.ts'
import { Card } from '../../ui/card.tsx'
import { Meter } from '../../ui/progress.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { isOpen } from './words.ts'

/** The progress of a loop towards each of its limits. */
export function LoopProgress({ loop }: { loop: Loop }) {
  const elapsed = useElapsed(loop)
  const { runs_completed: done, max_runs: maxRuns, total_cost: cost, max_cost_usd: budget } = loop
  const spent = costText(cost, loop.cost_estimated)
  const deadline = loop.max_duration_seconds
  return (
    <Card>
      <div className="grid gap-x-8 gap-y-4 sm:grid-cols-3">
        <Meter
          label={loop.failed_runs > 0 ? `Runs (${loop.failed_runs} failed)` : 'Runs'}
          value={done}
          max={maxRuns}
          text={`${done} of ${plural(maxRuns, 'run')}`}
          warnAt={2}
          dangerAt={2}
        />
        <Limit
          label="Cost"
          value={cost}
          max={budget}
          text={budget === null ? spent : `${spent} of ${formatCost(budget)}`}
        />
        <Limit
          label="Time"
          value={elapsed}
          max={deadline}
          text={
            deadline === null
              ? formatDuration(elapsed * 1000)
              : `${formatDuration(elapsed * 1000)} of ${formatDuration(deadline * 1000)}`
          }
        />
      </div>
      {loop.next_run_at !== null && isOpen(loop) && (
        <p className="mt-3 text-muted text-xs">
          The next run starts <RelativeTime at={loop.next_run_at} />.
        </p>
      )}
    </Card>
  )
}

/** Shows only the amount when there is no limit. */
function Limit({
  label,
  value,
  max,
  text,
}: {
  label: string
  value: number
  max: number | null
  text: string
}) {
  if (max !== null) return <Meter label={label} value={value} max={max} text={text} />
  return (
    <div className="flex items-baseline justify-between gap-2 text-xs">
      <span className="text-muted">{label}</span>
      <span data-numeric>{text}</span>
    </div>
  )
}

/** Seconds since the first run started, counted locally while the loop is running. */
function useElapsed(loop: Loop): number {
  const [now, setNow] = useState(Date.now)
  const isCounting = isOpen(loop) && loop.started_at !== null
  useEffect(() => {
    if (!isCounting) return
    const timer = setInterval(() => document.hidden || setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [isCounting])
  if (!isCounting || loop.started_at === null) return loop.elapsed_seconds ?? 0
  return Math.max(loop.elapsed_seconds ?? 0, Math.floor((now - Date.parse(loop.started_at)) / 1000))
}
