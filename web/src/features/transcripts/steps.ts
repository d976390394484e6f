import type { TokenUsage } from '@roost/contracts/link/transcript'

/** The properties of every step. */
export type StepBase = {
  /** Stays the same while the step grows and when the whole text replaces its pieces. */
  key: number
  /** The line that started it; null for pieces and for unstored lines. */
  line: number | null
  /** When that line was stored, ISO 8601; null as above. */
  at: string | null
  /** Duration in ms since the previous line. For a tool: from the call to the result. */
  durationMs: number | null
  /** 0 in the turn's own answer, one more inside each subagent. */
  depth: number
  /** The tool call of the subagent that produced it; null in the turn's own answer. */
  parent: string | null
  /** The stored line was truncated. */
  isCut: boolean
}

export type TextStep = StepBase & { kind: 'text'; text: string; isPartial: boolean }
export type ThinkingStep = StepBase & { kind: 'thinking'; text: string; isPartial: boolean }
export type ToolStep = StepBase & {
  kind: 'tool'
  id: string
  name: string
  input: unknown
  /** `unfinished`: the run ended without a result. */
  state: 'running' | 'done' | 'failed' | 'unfinished'
  result: { content: string; line: number | null; isCut: boolean } | null
}
export type NoticeStep = StepBase & { kind: 'notice'; level: 'info' | 'warning' | 'error'; message: string }
export type CompactionStep = StepBase & {
  kind: 'compaction'
  beforeTokens: number | null
  afterTokens: number | null
}
export type ResultStep = StepBase & {
  kind: 'result'
  isError: boolean
  text: string | null
  /** Duration of the whole turn, as measured by the runtime. */
  totalMs: number | null
  turns: number | null
  usage: TokenUsage | null
}
export type ErrorStep = StepBase & { kind: 'error'; error: string; message: string; isRetryable: boolean }

export type Step = TextStep | ThinkingStep | ToolStep | NoticeStep | CompactionStep | ResultStep | ErrorStep

/** A transcript as far as it is known. Immutable; an unchanged step is the same object. */
export type Transcript = {
  steps: readonly Step[]
  /** The last stored line that was read; a stream resumes after it. */
  lastLine: number
  /** When that line was stored, ISO 8601. */
  lastAt: string | null
  model: string | null
  nextKey: number
}

export const emptyTranscript: Transcript = {
  steps: [],
  lastLine: 0,
  lastAt: null,
  model: null,
  nextKey: 0,
}
