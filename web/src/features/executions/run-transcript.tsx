import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import { ArrowDown, Eraser, Pause, Play } from 'lucide-react'
import { useMemo } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { LogView } from '../../ui/log-view.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { Transcript } from '../transcripts/transcript.tsx'
import type { LiveTranscript } from '../transcripts/use-live-transcript.ts'
import type { RunView } from './run-search.ts'
import { searchSteps } from './timeline.ts'
import { useTail } from './use-tail.ts'

export type RunTranscriptProps = {
  run: ExecutionDetails
  live: LiveTranscript
  view: RunView
  search: string
  /** The marked line. */
  line: number | undefined
  scrollsToLine: boolean
  onViewChange: (view: RunView) => void
  onSearchChange: (search: string) => void
}

const views = [
  { value: 'transcript', label: 'Transcript' },
  { value: 'raw', label: 'Raw lines' },
] as const

/** The steps of the run: live while it is running, complete afterwards until retention removes them. */
export function RunTranscript(props: RunTranscriptProps) {
  const removedAt = props.run.log_removed_at
  return removedAt === null ? <StoredTranscript {...props} /> : <RemovedTranscript at={removedAt} />
}

function RemovedTranscript({ at }: { at: string }) {
  return (
    <section aria-label="Transcript" className="min-w-0">
      <EmptyState
        icon={<Eraser aria-hidden />}
        title="Transcript removed"
        description={
          <>
            Retention removed the steps of this run <RelativeTime at={at} />. Its result, cost and figures are
            still stored.
          </>
        }
      />
    </section>
  )
}

function StoredTranscript(props: RunTranscriptProps) {
  const { run, live, view, search, onSearchChange } = props
  const { steps } = live.transcript
  const found = useMemo(() => searchSteps(steps, search), [steps, search])
  const isLive = live.state !== null && live.state !== 'ended' && run.status === 'running'
  const tail = useTail({ count: steps.length, isLive: isLive && view === 'transcript' })

  return (
    <section aria-label="Transcript" className="min-w-0">
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <Segmented label="View" options={views} value={view} onValueChange={props.onViewChange} />
        <StreamWords live={live} isLive={isLive} />
        <span className="flex-1" />
        {view === 'transcript' && (
          <SearchInput
            label="Search steps"
            value={search}
            onValueChange={onSearchChange}
            className="w-full sm:w-56"
          />
        )}
        {isLive && view === 'transcript' && (
          <Button
            size="sm"
            icon={tail.isFollowing ? <Pause aria-hidden /> : <Play aria-hidden />}
            aria-pressed={!tail.isFollowing}
            onClick={() => tail.setFollowing(!tail.isFollowing)}
          >
            {tail.isFollowing ? 'Pause' : 'Follow'}
          </Button>
        )}
      </div>
      <Faulty live={live} />
      <Content {...props} steps={found} isLive={isLive} />
      <div ref={tail.end} className="h-px scroll-mb-8" />
      {isLive && !tail.isFollowing && tail.fresh > 0 && view === 'transcript' && (
        // An opaque bar at the edge of the window: a floating button would cover the text.
        <div className="sticky bottom-(--bottom-bar) z-sticky flex justify-center border-line border-t bg-canvas py-2">
          <Button
            size="sm"
            variant="primary"
            icon={<ArrowDown aria-hidden />}
            onClick={() => tail.setFollowing(true)}
          >
            {plural(tail.fresh, 'new step')}
          </Button>
        </div>
      )}
    </section>
  )
}

type ContentProps = RunTranscriptProps & {
  steps: LiveTranscript['transcript']['steps']
  isLive: boolean
}

function Content({ run, view, search, line, scrollsToLine, steps, live, isLive }: ContentProps) {
  const all = live.transcript.steps
  const texts = useMemo(
    () => (view === 'raw' ? live.lines.map((each) => JSON.stringify(each)) : []),
    [view, live.lines],
  )
  // A stream answers with its first line; a queued run has none.
  if (live.state === 'opening' && run.status !== 'queued' && all.length === 0)
    return <SkeletonText lines={5} label="Loading transcript" />
  if (view === 'raw') {
    return (
      <LogView
        label="Raw lines"
        lines={texts}
        isLive={isLive}
        fileName={`${run.id}.ndjson`}
        empty="No lines yet."
        className="h-[70dvh]"
      />
    )
  }
  if (all.length === 0) return <NothingYet run={run} />
  if (steps.length === 0) {
    return <EmptyState title="No matching steps" description={`No step contains “${search}”.`} />
  }
  return (
    <>
      {search.trim() !== '' && (
        <p role="status" className="mb-2 text-muted text-xs">
          {steps.length.toLocaleString('en')} of {plural(all.length, 'step')}
        </p>
      )}
      <Transcript
        steps={steps}
        isStreaming={isLive && search === ''}
        hasPermalinks
        line={line}
        scrollsToLine={scrollsToLine}
      />
    </>
  )
}

function NothingYet({ run }: { run: ExecutionDetails }) {
  const waits = run.status === 'queued' || run.status === 'pending_retry'
  if (run.redacted) return null
  return (
    <EmptyState
      title={waits ? 'Not started yet' : run.status === 'running' ? 'Starting…' : 'No steps recorded'}
      description={
        waits
          ? 'Steps appear here when the agent starts the run.'
          : run.status === 'running'
            ? 'The runtime is starting. The first step appears here.'
            : 'The run ended before the runtime wrote any output.'
      }
    />
  )
}

function StreamWords({ live, isLive }: { live: LiveTranscript; isLive: boolean }) {
  if (live.state === 'waiting')
    return <span className="text-warning text-xs">Connection lost. Reconnecting…</span>
  if (!isLive || live.state !== 'open') return null
  return (
    <span className="inline-flex items-center gap-1.5 text-muted text-xs">
      <span aria-hidden className="size-1.5 animate-pulse rounded-full bg-success" />
      Live
    </span>
  )
}

function Faulty({ live }: { live: LiveTranscript }) {
  if (live.error === null) return null
  const { sentence, code } = describeFault(live.error)
  return (
    <Banner tone="danger" title="Could not load the transcript" className="mb-3">
      {sentence} <code className="text-xs">{code}</code>
    </Banner>
  )
}
