import { ChevronRight } from 'lucide-react'
import { formatCompact, formatDuration } from '../../lib/format.ts'
import { cx } from '../../ui/class-names.ts'
import { Cost } from '../../ui/cost.tsx'
import { Duration } from '../../ui/time.tsx'
import type { Span } from './trace.ts'
import { placeIn, type Row, type Window } from './trace-window.ts'
import { statusWords } from './words.ts'

export const traceRowHeight = 28

const colours = { model: 'bg-chart-1', tool: 'bg-chart-5', agent: 'bg-chart-4', run: 'bg-chart-3' } as const
const kindWords = { model: 'Model', tool: 'Tool', agent: 'Subagent', run: 'Agent run' } as const

export type TraceRowProps = {
  row: Row
  id: string
  window: Window
  isSelected: boolean
  /** Null without children. */
  isOpen: boolean | null
  onSelect: () => void
  onToggle: () => void
  onEnter: () => void
}

/** One bar with its name and duration. */
export function TraceRow({
  row,
  id,
  window,
  isSelected,
  isOpen,
  onSelect,
  onToggle,
  onEnter,
}: TraceRowProps) {
  const { span, depth } = row
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles keys, and the row is its active descendant
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-posinset={row.position}
      aria-setsize={row.size}
      aria-selected={isSelected}
      aria-expanded={isOpen ?? undefined}
      onClick={onSelect}
      onDoubleClick={onEnter}
      style={{ height: traceRowHeight }}
      className={cx(
        'grid cursor-pointer grid-cols-[minmax(0,9.5rem)_minmax(0,1fr)_3.5rem] items-center gap-2 px-2 text-xs sm:grid-cols-[minmax(0,13rem)_minmax(0,1fr)_4rem]',
        isSelected ? 'bg-accent-soft' : 'hover:bg-hover',
      )}
    >
      <span className="sr-only">{wordsOf(span)}</span>
      <span
        aria-hidden
        className="flex min-w-0 items-center gap-1"
        style={{ paddingInlineStart: `${depth * 0.75}rem` }}
      >
        <Chevron isOpen={isOpen} onToggle={onToggle} />
        <span className={cx('shrink-0 truncate', span.state === 'failed' ? 'text-danger' : 'text-ink')}>
          {span.label}
        </span>
        <span className="min-w-0 flex-1 truncate text-muted">{noteOf(span)}</span>
      </span>
      <Bar span={span} window={window} />
      <span aria-hidden className="text-right text-muted">
        <Duration ms={span.durationMs} />
      </span>
    </div>
  )
}

function Chevron({ isOpen, onToggle }: { isOpen: boolean | null; onToggle: () => void }) {
  if (isOpen === null) return <span className="w-4 shrink-0" />
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: for the mouse only; the arrow keys do the same
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <span
      className="grid w-4 shrink-0 place-items-center self-stretch"
      onClick={(event) => {
        event.stopPropagation()
        onToggle()
      }}
    >
      <ChevronRight aria-hidden className={cx('size-3.5 text-faint', isOpen && 'rotate-90')} />
    </span>
  )
}

/** The bar; of a model call, the time to its first token is paler. */
function Bar({ span, window }: { span: Span; window: Window }) {
  const place = placeIn(span, window)
  const first = span.call?.first_token_ms
  const waiting = first != null && placeIn({ startMs: span.startMs, durationMs: first }, window)
  return (
    <span aria-hidden className="relative h-3 overflow-hidden rounded-xs bg-sunken">
      <span
        className={cx(
          'absolute inset-y-0 min-w-0.5 rounded-xs',
          span.state === 'failed' ? 'bg-chart-2' : colours[span.kind],
          span.state === 'running' && 'animate-pulse',
        )}
        style={place}
      />
      {waiting && <span className="absolute inset-y-0 bg-sunken/60" style={waiting} />}
    </span>
  )
}

function noteOf(span: Span) {
  const { call, run, summary } = span
  if (call) {
    return (
      <>
        {formatCompact(call.input_tokens)} in, {formatCompact(call.output_tokens)} out ·{' '}
        <Cost usd={call.cost} isEstimated={call.cost_estimated} />
      </>
    )
  }
  if (run) return summary
  return summary
}

/** The row in words, for screen readers. */
function wordsOf({ kind, label, summary, state, startMs, durationMs, call, run }: Span): string {
  const state_ = run
    ? statusWords[run.status].label
    : state === 'failed'
      ? 'failed'
      : state === 'running'
        ? 'running'
        : ''
  return [
    `${kindWords[kind]}: ${label}`,
    summary,
    state_,
    call && `${call.input_tokens} tokens in, ${call.output_tokens} out`,
    call && call.first_token_ms !== null && `time to first token ${formatDuration(call.first_token_ms)}`,
    `from ${formatDuration(startMs)}`,
    `took ${formatDuration(durationMs)}`,
  ]
    .filter(Boolean)
    .join(', ')
}

const legend = [
  ['model', 'Model call'],
  ['tool', 'Tool call'],
  ['agent', 'Subagent'],
  ['run', 'Called agent'],
] as const

export function TraceLegend() {
  return (
    <ul aria-label="Colors" className="flex flex-wrap gap-x-3 gap-y-1 text-2xs text-muted">
      {legend.map(([kind, label]) => (
        <li key={kind} className="flex items-center gap-1">
          <span aria-hidden className={cx('size-2 rounded-xs', colours[kind])} />
          {label}
        </li>
      ))}
      <li className="flex items-center gap-1">
        <span aria-hidden className="size-2 rounded-xs bg-chart-2" />
        Failed
      </li>
    </ul>
  )
}
