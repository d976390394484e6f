import { type Span, walk } from './trace.ts'

/** The visible part of a time axis, in ms since its start. */
export type Window = { from: number; to: number }

/** The shortest visible part. */
const minMs = 10

/** Scales the window by `factor` around `centre`, within the axis; below 1 zooms in. Null: the whole axis. */
export function zoomed(
  { from, to }: Window,
  { factor, centre, lengthMs }: { factor: number; centre?: number; lengthMs: number },
): Window | null {
  const middle = centre ?? (from + to) / 2
  const width = Math.max(Math.min(minMs, lengthMs), (to - from) * factor)
  if (width >= lengthMs) return null
  const start = middle - ((middle - from) / (to - from)) * width
  return within({ from: start, to: start + width }, lengthMs)
}

/** Moves the window by a share of its width. */
export function panned({ from, to }: Window, share: number, lengthMs: number): Window {
  const by = (to - from) * share
  return within({ from: from + by, to: to + by }, lengthMs)
}

/** The window around two points of a drag; null for a click. */
export function dragged(one: number, other: number, lengthMs: number): Window | null {
  const [from, to] = [Math.min(one, other), Math.max(one, other)]
  return to - from < lengthMs / 100 ? null : within({ from, to: Math.max(to, from + minMs) }, lengthMs)
}

function within({ from, to }: Window, lengthMs: number): Window {
  const width = Math.min(to - from, lengthMs)
  const start = Math.min(Math.max(0, from), lengthMs - width)
  return { from: start, to: start + width }
}

/** Up to `most` round times within the window. */
export function ticksOf({ from, to }: Window, most = 5): number[] {
  const step =
    roundSteps.find((each) => (to - from) / each <= most) ??
    86_400_000 * Math.ceil((to - from) / 86_400_000 / most)
  const first = Math.ceil(from / step) * step
  return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, index) => first + index * step)
}

const [second, minute, hour] = [1000, 60_000, 3_600_000]
const roundSteps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((each) => each * second),
  ...[1, 2, 5, 10, 15, 30].map((each) => each * minute),
  ...[1, 2, 4, 6, 12, 24].map((each) => each * hour),
]

/** A row of the list; position and size are those among its siblings. */
export type Row = { span: Span; depth: number; parent: string | null; position: number; size: number }

/**
 * The rows of the open spans that touch the window. `childrenOf` adds children that are loaded later, and null means
 * that the span may have some.
 */
export function rowsOf(
  spans: readonly Span[],
  {
    window,
    isOpen,
    childrenOf,
  }: { window: Window | null; isOpen(span: Span): boolean; childrenOf(span: Span): readonly Span[] },
): Row[] {
  const rows: Row[] = []
  const add = (siblings: readonly Span[], depth: number, parent: string | null) => {
    const shown = window === null ? siblings : siblings.filter((span) => touches(span, window))
    for (const [index, span] of shown.entries()) {
      rows.push({ span, depth, parent, position: index + 1, size: shown.length })
      if (isOpen(span)) add(childrenOf(span), depth + 1, span.id)
    }
  }
  add(spans, 0, null)
  return rows
}

export function touches({ startMs, durationMs }: Span, { from, to }: Window): boolean {
  return startMs <= to && startMs + durationMs >= from
}

/** The place of a span in the window, in percent; clipped at its edges. */
export function placeIn({ startMs, durationMs }: Pick<Span, 'startMs' | 'durationMs'>, { from, to }: Window) {
  const share = (ms: number) => (Math.min(Math.max(ms, from), to) - from) / (to - from)
  const left = share(startMs) * 100
  return { left: `${left}%`, width: `${Math.max(0, share(startMs + durationMs) * 100 - left)}%` }
}

export type Bucket = 'model' | 'tool' | 'failed' | null

/** What ran in each of `count` equal parts of the axis: failures before tools before model calls. */
export function bucketsOf(spans: readonly Span[], lengthMs: number, count: number): Bucket[] {
  const buckets: Bucket[] = Array.from({ length: count }, () => null)
  const rank = { model: 1, tool: 2, failed: 3 }
  for (const { kind, state, startMs, durationMs } of walk(spans)) {
    const bucket = state === 'failed' ? 'failed' : kind === 'model' ? 'model' : 'tool'
    const last = Math.min(count - 1, Math.floor(((startMs + durationMs) / lengthMs) * count))
    for (
      let index = Math.min(count - 1, Math.floor((startMs / lengthMs) * count));
      index <= last;
      index += 1
    ) {
      const before = buckets[index] ?? null
      if (before === null || rank[before] < rank[bucket]) buckets[index] = bucket
    }
  }
  return buckets
}
