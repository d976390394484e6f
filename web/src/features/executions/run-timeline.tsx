import { formatDuration } from '../../lib/format.ts'
import { cx } from '../../ui/class-names.ts'
import { Duration } from '../../ui/time.tsx'
import type { Segment, RunTimeline as Timeline } from './timeline.ts'

const colours = { model: 'bg-chart-1', tool: 'bg-chart-5', failed: 'bg-chart-2' } as const

/** The time of a run by model and tools, in one strip. */
export function TimeStrip({ timeline }: { timeline: Timeline }) {
  const { segments, spanMs, modelMs, toolMs } = timeline
  if (segments.length === 0) return null
  const rest = Math.max(0, spanMs - modelMs - toolMs)
  return (
    <div>
      <div
        role="img"
        aria-label={`Of ${formatDuration(spanMs)}: model ${formatDuration(modelMs)}, tools ${formatDuration(toolMs)}`}
        className="relative h-2.5 overflow-hidden rounded-sm bg-line"
      >
        {segments.map((segment) => (
          <span
            key={segment.key}
            className={cx('absolute inset-y-0 min-w-0.5', colours[segment.kind])}
            style={placeOf(segment, spanMs)}
          />
        ))}
      </div>
      <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-muted text-xs">
        <Share kind="model" label="Model" ms={modelMs} />
        <Share kind="tool" label="Tools" ms={toolMs} />
        <Share kind={null} label="Startup and gaps" ms={rest} />
      </ul>
    </div>
  )
}

function Share({ kind, label, ms }: { kind: Segment['kind'] | null; label: string; ms: number }) {
  return (
    <li className="flex items-center gap-1.5">
      <span
        aria-hidden
        className={cx('size-2 rounded-xs', kind === null ? 'bg-line-strong' : colours[kind])}
      />
      {label} <Duration ms={ms} className="text-ink" />
    </li>
  )
}

/** Each step as a bar on the time axis, with its duration. */
export function Waterfall({ timeline, onLine }: { timeline: Timeline; onLine: (line: number) => void }) {
  const { segments, spanMs } = timeline
  if (segments.length === 0) {
    return <p className="py-8 text-center text-muted text-sm">No timed steps yet.</p>
  }
  return (
    <ol aria-label="Steps over time" className="flex flex-col">
      {segments.map((segment) => (
        <li key={segment.key} className="[contain-intrinsic-size:auto_1.75rem] [content-visibility:auto]">
          <button
            type="button"
            disabled={segment.line === null}
            onClick={() => segment.line !== null && onLine(segment.line)}
            className="grid h-7 w-full grid-cols-[7rem_minmax(0,1fr)_4rem] items-center gap-3 rounded-sm px-2 text-left text-xs hover:bg-hover sm:grid-cols-[10rem_minmax(0,1fr)_4.5rem]"
          >
            <span
              className={cx('truncate', segment.kind === 'failed' ? 'text-danger' : 'text-ink')}
              style={{ paddingInlineStart: `${segment.depth * 0.75}rem` }}
            >
              {segment.label}
              {segment.kind === 'failed' && <span className="sr-only"> (failed)</span>}
            </span>
            <span aria-hidden className="relative h-3 rounded-xs bg-sunken">
              <span
                className={cx(
                  'absolute inset-y-0 min-w-0.5 rounded-xs',
                  colours[segment.kind],
                  segment.isRunning && 'animate-pulse',
                )}
                style={placeOf(segment, spanMs)}
              />
            </span>
            <span className="text-right text-muted">
              <Duration ms={segment.durationMs} />
            </span>
          </button>
        </li>
      ))}
    </ol>
  )
}

function placeOf({ startMs, durationMs }: Segment, spanMs: number) {
  return { left: `${(startMs / spanMs) * 100}%`, width: `${(durationMs / spanMs) * 100}%` }
}
