import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, useMemo, useState } from 'react'
import { formatClock, formatDate, formatDuration, plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { cx } from '../../ui/class-names.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { firstLine } from './first-line.ts'
import { type Lane, lanesOf, type Mark, ticksOf } from './lanes.ts'
import { latestRunsMost, latestRunsQuery } from './queries.ts'
import { pageOf } from './run-page.ts'
import { statusWords } from './words.ts'

const ranges = [
  { value: '6', label: '6 h' },
  { value: '24', label: '24 h' },
  { value: '168', label: '7 days' },
] as const
type Range = (typeof ranges)[number]['value']

export type RunsOverTimeProps = { agents: readonly { name: string; title: string }[] }

/** The runs of each agent on one time axis. Each mark links to its run. */
export function RunsOverTime({ agents }: RunsOverTimeProps) {
  const [range, setRange] = useState<Range>('24')
  const runs = useQuery(latestRunsQuery(useApi(), Number(range)))
  const names = useMemo(() => agents.map(({ name }) => name), [agents])
  const axis = useMemo(() => {
    // The time of the response: marks must not move while nothing is fetched.
    const to = runs.dataUpdatedAt
    return { from: to - Number(range) * 3_600_000, to }
  }, [runs.dataUpdatedAt, range])
  const lanes = useMemo(() => lanesOf(names, runs.data?.rows ?? [], axis), [names, runs.data, axis])
  const titles = new Map(agents.map(({ name, title }) => [name, title]))
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Legend />
        <Segmented
          size="sm"
          label="Time range"
          options={ranges}
          value={range}
          onValueChange={setRange}
          className="ml-auto"
        />
      </div>
      {runs.isError && !runs.data ? (
        <ErrorState title="Could not load the runs" error={runs.error} onRetry={() => void runs.refetch()} />
      ) : runs.isPending ? (
        <SkeletonList rows={6} />
      ) : (
        <div className="min-w-0 rounded-lg border border-line bg-surface">
          <Axis axis={axis} />
          <ul aria-label="Runs over time">
            {lanes.map((lane) => (
              <LaneRow key={lane.name} lane={lane} title={titles.get(lane.name) ?? lane.name} axis={axis} />
            ))}
          </ul>
        </div>
      )}
      {(runs.data?.total ?? 0) > latestRunsMost && (
        <p className="text-muted text-xs">
          The newest {latestRunsMost.toLocaleString('en')} of {runs.data?.total.toLocaleString('en')} runs are
          shown.
        </p>
      )}
    </div>
  )
}

type AxisRange = { from: number; to: number }
const columns = 'grid grid-cols-[7rem_minmax(0,1fr)] gap-3 px-3 sm:grid-cols-[12rem_minmax(0,1fr)] sm:px-4'

function Axis({ axis }: { axis: AxisRange }) {
  const isLong = axis.to - axis.from > 48 * 3_600_000
  return (
    <div
      aria-hidden
      className={cx(
        columns,
        'sticky top-0 z-sticky h-8 rounded-t-lg border-b bg-surface text-2xs text-faint',
      )}
    >
      <span />
      <span className="relative">
        {ticksOf(axis, 8).map(({ at, left }, index) => (
          <span
            key={at}
            className={cx(
              'absolute top-2 -translate-x-1/2 whitespace-nowrap tabular-nums',
              index % 2 === 1 && 'max-sm:hidden',
              (left < 0.04 || left > 0.96) && 'hidden',
            )}
            style={{ left: `${left * 100}%` }}
          >
            {isLong ? formatDate(at, at) : formatClock(at)}
          </span>
        ))}
      </span>
    </div>
  )
}

function LaneRow({ lane, title, axis }: { lane: Lane; title: string; axis: AxisRange }) {
  return (
    <li
      className={cx(
        columns,
        'h-9 items-center border-b last:border-b-0 [contain-intrinsic-size:auto_2.25rem] [content-visibility:auto] hover:bg-hover',
      )}
    >
      <Link
        to="/agents/$name"
        params={{ name: lane.name }}
        className="truncate text-sm hover:underline"
        title={title}
      >
        {title}
      </Link>
      <div className="relative h-full">
        {ticksOf(axis, 8).map(({ at, left }) => (
          <span
            key={at}
            aria-hidden
            className="absolute inset-y-0 w-px bg-line"
            style={{ left: `${left * 100}%` }}
          />
        ))}
        <ol
          // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move between the marks, which are too small for their own tab stops
          tabIndex={0}
          aria-label={laneWords(lane, title)}
          onKeyDown={stepThrough}
          className="absolute inset-0 rounded-sm"
        >
          {lane.marks.map((mark) => (
            <li key={mark.run.id}>
              <RunMark mark={mark} />
            </li>
          ))}
        </ol>
      </div>
    </li>
  )
}

function laneWords({ marks, failed }: Lane, title: string): string {
  if (marks.length === 0) return `${title}: no runs`
  return `${title}: ${plural(marks.length, 'run')}, ${failed} failed. Use the arrow keys to select a run.`
}

/** Left and right move between marks. */
function stepThrough(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (step === undefined) return
  const marks = [...event.currentTarget.querySelectorAll<HTMLElement>('a')]
  const from = marks.indexOf(event.target as HTMLElement)
  const next = from === -1 ? (step === 1 ? 0 : marks.length - 1) : from + step
  marks[next]?.focus()
  event.preventDefault()
}

const colours = {
  queued: 'bg-chart-5',
  running: 'bg-chart-1 animate-pulse',
  success: 'bg-chart-3',
  failed: 'bg-chart-2 inset-y-1!',
  cancelled: 'bg-chart-6',
  skipped: 'border border-chart-6 bg-transparent',
  pending_retry: 'bg-chart-4',
} as const

function RunMark({ mark: { run, left, width } }: { mark: Mark }) {
  const took = run.duration_ms === null ? '' : `, ${formatDuration(run.duration_ms)}`
  const words = `${firstLine(run.message, 80)}: ${statusWords[run.status].label}${took}, ${formatClock(Date.parse(run.created_at))}`
  return (
    <Link
      {...pageOf(run)}
      tabIndex={-1}
      preload={false}
      aria-label={words}
      title={words}
      className={cx('absolute inset-y-2.5 min-w-1 rounded-xs hover:brightness-90', colours[run.status])}
      style={{ left: `min(${left * 100}%, calc(100% - 4px))`, width: `${width * 100}%` }}
    />
  )
}

function Legend() {
  const shown = ['success', 'failed', 'running', 'cancelled'] as const
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-muted text-xs">
      {shown.map((status) => (
        <li key={status} className="flex items-center gap-1.5">
          <span
            aria-hidden
            className={cx('w-1.5 rounded-xs', status === 'failed' ? 'h-4' : 'h-2.5', colours[status])}
          />
          {statusWords[status].label}
        </li>
      ))}
    </ul>
  )
}
