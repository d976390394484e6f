import { ApiError } from '@roost/contracts/client'
import { type Loop, stopLoop } from '@roost/contracts/runs/loops'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { describeFault } from '../../lib/fault.ts'
import { formatCost, formatDuration, plural } from '../../lib/format.ts'
import { useApi, useApp } from '../../shell/app-context.ts'
import { StatusDot } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { PlainText } from '../../ui/plain-text.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { StopIcon } from '../../ui/stop-icon.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { firstLine } from '../executions/first-line.ts'
import { LoopProgress } from './loop-progress.tsx'
import { LoopRuns } from './loop-runs.tsx'
import { loopKeys, loopQuery } from './queries.ts'
import { isOpen, loopStatusWords, stopWords } from './words.ts'

/** One loop: progress, stop conditions and runs. */
export function LoopPanel({ name, id }: { name: string; id: string }) {
  const loop = useQuery(loopQuery(useApi(), name, id))
  if (loop.data) return <Loaded name={name} loop={loop.data} />
  if (loop.error instanceof ApiError && loop.error.status === 404) {
    return (
      <EmptyState
        title="Loop not found"
        action={
          <Link to="." search={{ tab: 'loops' }} className={buttonClass()}>
            Go to loops
          </Link>
        }
      />
    )
  }
  if (!loop.error) return <Skeleton className="h-72 w-full" />
  return <ErrorState title="Could not load the loop" error={loop.error} onRetry={() => void loop.refetch()} />
}

function Loaded({ name, loop }: { name: string; loop: Loop }) {
  return (
    <section aria-label="Loop" className="flex min-w-0 flex-col gap-5">
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-64">
          <Link
            to="."
            search={{ tab: 'loops' }}
            className="mb-1 inline-flex items-center gap-1 text-muted text-xs hover:text-ink"
          >
            <ArrowLeft aria-hidden className="size-3" />
            All loops
          </Link>
          <h2 className="font-semibold text-lg [overflow-wrap:anywhere]">{firstLine(loop.message, 140)}</h2>
          <p aria-live="polite" className="mt-0.5 flex flex-wrap items-center gap-x-2 text-sm">
            <StatusDot {...loopStatusWords[loop.status]} pulse={loop.status === 'running'} />
            <span className="text-muted">{stopWords(loop)}</span>
          </p>
        </div>
        {isOpen(loop) && <Stop name={name} loop={loop} />}
      </header>
      {loop.error !== null && (
        <Banner tone="danger" title="Failure reason">
          <p className="break-words">{loop.error}</p>
        </Banner>
      )}
      <LoopProgress loop={loop} />
      <LoopRuns name={name} runs={loop.runs} />
      <div className="grid min-w-0 items-start gap-4 lg:grid-cols-2">
        <Card>
          <h3 className="mb-1.5 font-medium text-sm">Message</h3>
          <PlainText text={loop.message} label="Message" />
          {loop.last_response !== null && (
            <>
              <h3 className="mt-4 mb-1.5 font-medium text-sm">Last reply</h3>
              <PlainText text={loop.last_response} label="Last reply" />
            </>
          )}
        </Card>
        <Rules loop={loop} />
      </div>
    </section>
  )
}

function Stop({ name, loop }: { name: string; loop: Loop }) {
  const { api, queries } = useApp()
  const stop = useMutation({
    mutationFn: () => api.call(stopLoop, { params: { loop_id: loop.loop_id } }),
    onSuccess: ({ status }) => {
      const title =
        status === 'stopping' ? 'The loop stops after the current run.' : 'The loop had already ended.'
      toast({ title: title, tone: 'success' })
    },
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: loopKeys.ofAgent(name) }),
  })
  if (loop.stop_requested_at !== null) {
    return <p className="text-muted text-sm">Stopping after this run…</p>
  }
  return (
    <Button icon={<StopIcon />} pending={stop.isPending} onClick={() => stop.mutate()}>
      Stop loop
    </Button>
  )
}

function Rules({ loop }: { loop: Loop }) {
  const seconds = (value: number | null, none: string) =>
    value === null ? none : formatDuration(value * 1000)
  return (
    <Card>
      <h3 className="mb-1.5 font-medium text-sm">Stop conditions</h3>
      <KeyValues
        items={[
          { label: 'Runs', value: `after ${plural(loop.max_runs, 'run')}` },
          { label: 'Stop phrase', value: loop.stop_signal === null ? null : `“${loop.stop_signal}”` },
          { label: 'Budget', value: loop.max_cost_usd === null ? 'none' : formatCost(loop.max_cost_usd) },
          { label: 'Deadline', value: seconds(loop.max_duration_seconds, 'none') },
          {
            label: 'No progress',
            value:
              loop.no_progress_threshold === 0
                ? 'never'
                : `after ${loop.no_progress_threshold} equal replies`,
          },
          {
            label: 'Failures',
            value:
              loop.on_failure === 'abort'
                ? 'after the first'
                : `after ${loop.max_consecutive_failures} consecutive`,
          },
        ]}
      />
      <h3 className="mt-3 mb-1.5 border-t pt-3 font-medium text-sm">Run options</h3>
      <KeyValues
        items={[
          {
            label: 'Delay',
            value: loop.delay_seconds === 0 ? 'none' : seconds(loop.delay_seconds, ''),
          },
          { label: 'Timeout', value: seconds(loop.timeout_per_run, 'agent default') },
          { label: 'Model', value: loop.model ?? 'agent default' },
          { label: 'Tools', value: loop.allowed_tools?.join(', ') ?? 'all tools of the agent' },
          {
            label: 'Started',
            value: (
              <>
                by {loop.started_by ?? 'an unknown user'}, <RelativeTime at={loop.created_at} />
              </>
            ),
          },
        ]}
      />
    </Card>
  )
}
