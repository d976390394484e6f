import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronLeft, ChevronRight, Maximize2, ZoomIn, ZoomOut } from 'lucide-react'
import { type KeyboardEvent, useCallback, useEffect, useId, useMemo, useRef, useState } from 'react'
import { plural } from '../../lib/format.ts'
import { IconButton } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { Duration } from '../../ui/time.tsx'
import { type Span, type Trace, walk } from './trace.ts'
import { TraceDetails } from './trace-details.tsx'
import { TraceAxis, TraceOverview } from './trace-overview.tsx'
import { TraceLegend, TraceRow, traceRowHeight } from './trace-row.tsx'
import { panned, rowsOf, touches, type Window, zoomed } from './trace-window.ts'
import { useStartedRuns } from './use-started-runs.ts'

export type RunTraceProps = {
  trace: Trace
  /** The accessible name of the list. */
  label: string
  startedAt: string
  /** The id of a span. */
  selected: string | null
  onSelect: (id: string | null) => void
  /** Shows the line of a span in the transcript; left out where there is none. */
  onLine?: ((line: number) => void) | undefined
  className?: string
}

/**
 * The spans of a run on one time axis, as a tree. Only rows on the screen are rendered, so that runs with many
 * thousand calls stay usable.
 */
export function RunTrace({ trace, label, startedAt, selected, onSelect, onLine, className }: RunTraceProps) {
  const [window, setWindow] = useState<Window | null>(null)
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  // Called agents start closed, because their spans are loaded when they open.
  const isOpen = useCallback(
    ({ kind, id }: Span) => (kind === 'run' ? toggled.has(id) : !toggled.has(id)),
    [toggled],
  )
  const started = useStartedRuns(trace.spans, toggled, startedAt)
  const rows = useMemo(() => {
    const childrenOf = (span: Span) =>
      span.kind === 'run' ? (started.get(span.id) ?? noSpans) : span.children
    return rowsOf(trace.spans, { window, isOpen, childrenOf })
  }, [trace.spans, window, isOpen, started])
  const [revealed, setRevealed] = useState(selected)
  if (selected !== revealed) {
    setRevealed(selected)
    // A span selected elsewhere may be outside the zoomed part or inside a closed one.
    const isShown = selected === null || rows.some((row) => row.span.id === selected)
    const path = isShown ? null : pathTo(trace.spans, selected)
    if (path) {
      setWindow(null)
      setToggled(new Set([...toggled].filter((id) => !path.includes(id))))
    }
  }
  const span = rows.find((row) => row.span.id === selected)?.span ?? null
  const shown = window ?? { from: 0, to: trace.lengthMs }
  const zoom = (factor: number) => {
    const inside = span && touches(span, shown)
    const centre = inside ? span.startMs + span.durationMs / 2 : undefined
    setWindow(
      zoomed(shown, { factor, lengthMs: trace.lengthMs, ...(centre === undefined ? {} : { centre }) }),
    )
  }
  const toggle = ({ id }: Span) => {
    const next = new Set(toggled)
    if (!next.delete(id)) next.add(id)
    setToggled(next)
  }
  const all = useMemo(() => [...walk(trace.spans)], [trace.spans])
  // Runs that a called agent started have their own page, so that a chain of agents loads step by step.
  const callable = useMemo(() => new Set(all.flatMap(({ kind, id }) => (kind === 'run' ? [id] : []))), [all])
  return (
    <div className={cx('flex min-h-0 min-w-0 flex-col gap-2', className)}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-muted text-xs">
        <span>
          Model <Duration ms={trace.modelMs} className="text-ink" />
        </span>
        <span>
          Tools <Duration ms={trace.toolMs} className="text-ink" />
        </span>
        {/* A growing run would announce every step. */}
        <span role={window === null ? undefined : 'status'}>
          {window === null
            ? plural(all.length, 'span')
            : `${rows.length.toLocaleString('en')} of ${plural(all.length, 'span')} in view`}
        </span>
        <span className="ml-auto flex items-center">
          {window !== null && (
            <>
              <Zoom
                label="Earlier"
                icon={<ChevronLeft aria-hidden />}
                onClick={() => setWindow(panned(window, -0.5, trace.lengthMs))}
              />
              <Zoom
                label="Later"
                icon={<ChevronRight aria-hidden />}
                onClick={() => setWindow(panned(window, 0.5, trace.lengthMs))}
              />
              <Zoom label="Show whole run" icon={<Maximize2 aria-hidden />} onClick={() => setWindow(null)} />
              <Zoom label="Zoom out" icon={<ZoomOut aria-hidden />} onClick={() => zoom(2)} />
            </>
          )}
          <Zoom label="Zoom in" icon={<ZoomIn aria-hidden />} onClick={() => zoom(0.5)} />
        </span>
      </div>
      <TraceOverview trace={trace} window={window} onWindowChange={setWindow} />
      <TraceAxis window={shown} />
      <Rows
        {...{ rows, label, selected, onSelect, isOpen, toggle, zoom }}
        window={shown}
        hasChildren={(each) => (each.kind === 'run' ? callable.has(each.id) : each.children.length > 0)}
        onReset={() => setWindow(null)}
        onEnter={({ line }) => line !== null && onLine?.(line)}
      />
      <TraceLegend />
      {span && <TraceDetails span={span} onLine={onLine} onClose={() => onSelect(null)} />}
    </div>
  )
}

/** The ids of the spans around this one. */
function pathTo(spans: readonly Span[], id: string): string[] | null {
  for (const span of spans) {
    if (span.id === id) return []
    const within = pathTo(span.children, id)
    if (within) return [span.id, ...within]
  }
  return null
}

const noSpans: readonly Span[] = []

function Zoom(props: { label: string; icon: React.ReactNode; onClick: () => void }) {
  return <IconButton size="sm" {...props} />
}

type RowsProps = {
  rows: ReturnType<typeof rowsOf>
  label: string
  window: Window
  selected: string | null
  onSelect: (id: string) => void
  isOpen: (span: Span) => boolean
  hasChildren: (span: Span) => boolean
  toggle: (span: Span) => void
  zoom: (factor: number) => void
  onReset: () => void
  onEnter: (span: Span) => void
}

function Rows(props: RowsProps) {
  const { rows, label, window, selected, onSelect, isOpen, hasChildren, toggle, onEnter } = props
  const scroller = useRef<HTMLDivElement>(null)
  const id = useId()
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => traceRowHeight,
    overscan: 10,
  })
  const index = rows.findIndex(({ span }) => span.id === selected)
  useEffect(() => {
    if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' })
  }, [index, virtual])

  function onKeyDown(event: KeyboardEvent) {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const act = keyActs(event.key)
    if (!act) return
    event.preventDefault()
    act()
  }
  function keyActs(key: string): (() => void) | null {
    const row = rows[index]
    const to = (next: number) => () => {
      const found = rows[Math.min(rows.length - 1, Math.max(0, next))]
      if (found) onSelect(found.span.id)
    }
    switch (key) {
      case 'ArrowDown':
        return to(index + 1)
      case 'ArrowUp':
        return to(index < 0 ? 0 : index - 1)
      case 'Home':
        return to(0)
      case 'End':
        return to(rows.length - 1)
      case 'PageDown':
        return to(index + 10)
      case 'PageUp':
        return to(index - 10)
      case 'ArrowRight':
        if (!row || !hasChildren(row.span)) return null
        return isOpen(row.span) ? to(index + 1) : () => toggle(row.span)
      case 'ArrowLeft':
        if (!row) return null
        if (hasChildren(row.span) && isOpen(row.span)) return () => toggle(row.span)
        return row.parent === null ? null : to(rows.findIndex(({ span }) => span.id === row.parent))
      case 'Enter':
        return row ? () => onEnter(row.span) : null
      case '+':
        return () => props.zoom(0.5)
      case '-':
        return () => props.zoom(2)
      case '0':
        return props.onReset
      default:
        return null
    }
  }

  if (rows.length === 0) return <p className="py-6 text-center text-muted text-sm">No timed steps yet.</p>
  return (
    <div
      ref={scroller}
      role="tree"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={index < 0 ? undefined : `${id}-${index}`}
      onKeyDown={onKeyDown}
      className="max-h-80 min-h-16 overflow-x-hidden overflow-y-auto rounded-md border border-line bg-surface xl:max-h-[45dvh]"
    >
      <div role="none" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index: at, start }) => {
          const row = rows[at]
          if (!row) return null
          const { span } = row
          return (
            <div
              key={span.id}
              role="none"
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              <TraceRow
                row={row}
                id={`${id}-${at}`}
                window={window}
                isSelected={at === index}
                isOpen={hasChildren(span) ? isOpen(span) : null}
                onSelect={() => onSelect(span.id)}
                onToggle={() => toggle(span)}
                onEnter={() => onEnter(span)}
              />
            </div>
          )
        })}
      </div>
    </div>
  )
}
