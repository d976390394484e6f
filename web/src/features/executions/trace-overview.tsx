import { useMemo, useRef, useState } from 'react'
import { formatDuration } from '../../lib/format.ts'
import { cx } from '../../ui/class-names.ts'
import type { Trace } from './trace.ts'
import { bucketsOf, dragged, placeIn, ticksOf, type Window } from './trace-window.ts'

const bucketCount = 200
const colours = { model: 'bg-chart-1', tool: 'bg-chart-5', failed: 'bg-chart-2' } as const

export type TraceOverviewProps = {
  trace: Trace
  window: Window | null
  onWindowChange: (window: Window | null) => void
}

/** The whole axis in one strip. Dragging zooms into a part; the buttons above do the same for the keyboard. */
export function TraceOverview({ trace, window, onWindowChange }: TraceOverviewProps) {
  const { spans, lengthMs, modelMs, toolMs } = trace
  const buckets = useMemo(() => bucketsOf(spans, lengthMs, bucketCount), [spans, lengthMs])
  const strip = useRef<HTMLDivElement>(null)
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null)
  const msAt = (clientX: number) => {
    const box = strip.current?.getBoundingClientRect()
    if (!box || box.width === 0) return 0
    return Math.min(1, Math.max(0, (clientX - box.left) / box.width)) * lengthMs
  }
  const marked = drag ? { from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) } : window
  return (
    <div
      ref={strip}
      role="img"
      aria-label={`Of ${formatDuration(lengthMs)}: model ${formatDuration(modelMs)}, tools ${formatDuration(toolMs)}`}
      className="relative h-6 cursor-crosshair touch-pan-y overflow-hidden rounded-sm bg-sunken select-none"
      onPointerDown={(event) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        const at = msAt(event.clientX)
        setDrag({ from: at, to: at })
      }}
      onPointerMove={(event) => {
        if (drag) setDrag({ ...drag, to: msAt(event.clientX) })
      }}
      onPointerCancel={() => setDrag(null)}
      onPointerUp={() => {
        if (drag) onWindowChange(dragged(drag.from, drag.to, lengthMs))
        setDrag(null)
      }}
    >
      {buckets.map(
        (bucket, index) =>
          bucket && (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: a bucket is its position
              key={index}
              className={cx('absolute inset-y-1', colours[bucket])}
              style={{ left: `${(index / bucketCount) * 100}%`, width: `${100 / bucketCount}%` }}
            />
          ),
      )}
      {marked && (
        <span
          className="absolute inset-y-0 rounded-sm border border-accent bg-accent/20"
          style={placeIn(
            { startMs: marked.from, durationMs: marked.to - marked.from },
            { from: 0, to: lengthMs },
          )}
        />
      )}
    </div>
  )
}

/** Round times over the bars. */
export function TraceAxis({ window }: { window: Window }) {
  return (
    <div
      aria-hidden
      className="grid grid-cols-[minmax(0,9.5rem)_minmax(0,1fr)_3.5rem] gap-2 px-2 sm:grid-cols-[minmax(0,13rem)_minmax(0,1fr)_4rem]"
    >
      <span />
      <span className="relative h-4 overflow-hidden text-2xs text-faint">
        {ticksOf(window, 4).map((ms) => (
          <span
            key={ms}
            className="absolute border-line-strong border-l pl-0.5 whitespace-nowrap"
            style={{ left: placeIn({ startMs: ms, durationMs: 0 }, window).left }}
          >
            {formatDuration(ms)}
          </span>
        ))}
      </span>
      <span />
    </div>
  )
}
