import type { Step } from '../transcripts/steps.ts'

/** One span of a run on its time axis. */
export type Segment = {
  key: number
  kind: 'model' | 'tool' | 'failed'
  label: string
  /** ms since the start of the run. */
  startMs: number
  /** At least 0; a running call lasts until `nowMs`. */
  durationMs: number
  isRunning: boolean
  /** The line to scroll to; null when none is stored. */
  line: number | null
  depth: number
}

export type RunTimeline = {
  segments: readonly Segment[]
  /** The length of the axis, at least 1 ms. */
  spanMs: number
  modelMs: number
  toolMs: number
}

/**
 * Attributes the time of a run: answers and thoughts to the model, calls to their tools. Skips steps without
 * a time. `nowMs`: the current time while the run is running, else null.
 */
export function timelineOf(
  steps: readonly Step[],
  { startedAt, nowMs }: { startedAt: string; nowMs: number | null },
): RunTimeline {
  const origin = Date.parse(startedAt)
  const segments = withChoices(steps.flatMap((step) => segmentOf(step, origin, nowMs) ?? []))
  const ends = segments.map(({ startMs, durationMs }) => startMs + durationMs)
  const total = (kinds: readonly Segment['kind'][]) =>
    segments
      .filter(({ kind, depth }) => depth === 0 && kinds.includes(kind))
      .reduce((sum, { durationMs }) => sum + durationMs, 0)
  return {
    segments,
    spanMs: Math.max(1, nowMs === null ? 0 : nowMs - origin, ...ends),
    modelMs: total(['model']),
    toolMs: total(['tool', 'failed']),
  }
}

/**
 * The model produces a call without text: the time before the call is model time. The time before the first
 * step is left open, because it includes the start of the runtime.
 */
function withChoices(segments: readonly Segment[]): Segment[] {
  let end: number | null = null
  return segments.flatMap((segment) => {
    if (segment.depth > 0) return [segment]
    const { kind, startMs } = segment
    const before = end
    end = Math.max(end ?? 0, startMs + segment.durationMs)
    if (kind === 'model' || before === null || startMs <= before) return [segment]
    const choice: Segment = {
      key: -1 - segment.key,
      kind: 'model',
      label: 'Choosing tool',
      startMs: before,
      durationMs: startMs - before,
      isRunning: false,
      line: segment.line,
      depth: 0,
    }
    return [choice, segment]
  })
}

function segmentOf(step: Step, origin: number, nowMs: number | null): Segment | null {
  if (step.at === null) return null
  const at = Date.parse(step.at) - origin
  const about = { key: step.key, line: step.line, depth: step.depth }
  if (step.kind === 'tool') {
    const isRunning = step.state === 'running'
    const durationMs = step.durationMs ?? (isRunning && nowMs !== null ? nowMs - origin - at : 0)
    const kind = step.state === 'failed' ? 'failed' : 'tool'
    return {
      ...about,
      kind,
      label: step.name,
      startMs: atLeast0(at),
      durationMs: atLeast0(durationMs),
      isRunning,
    }
  }
  if (step.kind !== 'text' && step.kind !== 'thinking') return null
  const durationMs = atLeast0(Math.min(step.durationMs ?? 0, at))
  const label = step.kind === 'text' ? 'Answer' : 'Thinking'
  return { ...about, kind: 'model', label, startMs: atLeast0(at - durationMs), durationMs, isRunning: false }
}

function atLeast0(ms: number): number {
  return Math.max(0, ms)
}

/** The steps that contain every word in their text, input or output. */
export function searchSteps(steps: readonly Step[], text: string): readonly Step[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return steps
  return steps.filter((step) => {
    const content = textOf(step).toLowerCase()
    return words.every((word) => content.includes(word))
  })
}

function textOf(step: Step): string {
  switch (step.kind) {
    case 'text':
    case 'thinking':
      return step.text
    case 'tool':
      return `${step.name} ${JSON.stringify(step.input)} ${step.result?.content ?? ''}`
    case 'notice':
      return step.message
    case 'error':
      return `${step.error} ${step.message}`
    case 'result':
      return step.text ?? ''
    case 'compaction':
      return ''
  }
}
