import {
  blocksOf,
  type Fields,
  fieldsOf,
  numberOrNull,
  outputOf,
  stringOrNull,
  textOf,
  usageOf,
} from './fields.ts'
import { emptyTranscript, type Step, type StepBase, type ToolStep, type Transcript } from './steps.ts'

/** The steps of stored lines, or of a whole `execution_log`. Ignores unknown types and fields. */
export function transcriptOf(lines: Iterable<unknown>): Transcript {
  return appendLines(emptyTranscript, lines)
}

export function appendLine(transcript: Transcript, line: unknown): Transcript {
  return appendLines(transcript, [line])
}

/**
 * Appends stream objects to a transcript: stored lines, pieces (`partial`) and stream ends. Skips known
 * lines. Copies once per call, so pass everything since the last frame together.
 */
export function appendLines(transcript: Transcript, lines: Iterable<unknown>): Transcript {
  const draft = draftOf(transcript)
  for (const line of lines) readLine(draft, fieldsOf(line))
  const { steps, lastLine, lastAt, model, nextKey } = draft
  return { steps, lastLine, lastAt, model, nextKey }
}

/** The working copy of one call. `calls` finds the step of a call by its ID. */
type Draft = { -readonly [K in keyof Transcript]: Transcript[K] } & {
  steps: Step[]
  calls: Map<string, number>
}

function draftOf(transcript: Transcript): Draft {
  const steps = [...transcript.steps]
  const calls = new Map<string, number>()
  for (const [index, step] of steps.entries()) if (step.kind === 'tool') calls.set(step.id, index)
  return { ...transcript, steps, calls }
}

function readLine(draft: Draft, line: Fields): void {
  const n = numberOrNull(line._n)
  if (n !== null && n <= draft.lastLine) return
  const about = aboutOf(draft, line)
  if (line.type === 'partial') addPiece(draft, line)
  else if (line.type === 'done' || line.type === 'stream_end') finish(draft)
  else if (line.type === 'assistant') readAnswer(draft, line, about)
  else if (line.type === 'user') readResults(draft, line)
  else if (line.type === 'system') readSystem(draft, line, about)
  else if (line.type === 'error') addError(draft, line, about)
  else if (line.type === 'result') addResult(draft, line, about)
  if (n === null) return
  draft.lastLine = n
  draft.lastAt = stringOrNull(line._ts) ?? draft.lastAt
}

type About = Omit<StepBase, 'key'>

function aboutOf(draft: Draft, line: Fields): About {
  const at = stringOrNull(line._ts)
  const parent = stringOrNull(line.parent_tool_use_id)
  const call = parent === null ? undefined : draft.steps[draft.calls.get(parent) ?? -1]
  return {
    line: numberOrNull(line._n),
    at,
    durationMs: between(draft.lastAt, at),
    parent,
    depth: parent === null ? 0 : Math.min((call?.depth ?? 0) + 1, deepest),
    isCut: line._truncated === true,
  }
}

/** Deeper steps keep this indentation, because phones are narrow. */
const deepest = 4

function readAnswer(draft: Draft, line: Fields, about: About): void {
  const message = fieldsOf(line.message)
  draft.model = stringOrNull(message.model) ?? draft.model
  const blocks = blocksOf(message.content)
  for (const block of blocks) {
    if (block.type === 'text') addWhole(draft, 'text', textOf(block.text), about)
    else if (block.type === 'thinking') addWhole(draft, 'thinking', textOf(block.thinking), about)
    else if (block.type === 'tool_use') addCall(draft, block, about)
  }
  // A line with very many parts is stored without them; the step still shows that something was said.
  if (blocks.length === 0 && about.isCut) addWhole(draft, 'text', '', about)
}

/** A whole block replaces its pieces, so that the screen does not jump. */
function addWhole(draft: Draft, kind: 'text' | 'thinking', text: string, about: About): void {
  const index = about.depth === 0 ? draft.steps.findLastIndex((step) => isPiece(step, kind)) : -1
  if (text.trim() === '' && !about.isCut) return
  const key = draft.steps[index]?.key ?? draft.nextKey++
  const step: Step = { kind, key, text, isPartial: false, ...about }
  if (index === -1) insert(draft, step)
  else draft.steps[index] = step
}

function addPiece(draft: Draft, line: Fields): void {
  const kind = line.kind
  if (kind !== 'text' && kind !== 'thinking') return
  const text = textOf(line.text)
  const index = draft.steps.findLastIndex((step) => isPiece(step, kind))
  const step = draft.steps[index]
  if (step && isPiece(step, kind)) {
    // A reopened stream starts with the whole block so far.
    const before = step.text.slice(0, numberOrNull(line.at) ?? step.text.length)
    draft.steps[index] = { ...step, text: before + text }
    return
  }
  if (text === '') return
  const about = { line: null, at: null, durationMs: null, depth: 0, parent: null, isCut: false }
  draft.steps.push({ kind, key: draft.nextKey++, text, isPartial: true, ...about })
}

type Piece = Extract<Step, { isPartial: boolean }>

function isPiece(step: Step, kind?: Piece['kind']): step is Piece {
  return 'isPartial' in step && step.isPartial && (kind === undefined || step.kind === kind)
}

/** Complete lines precede text that is still growing. */
function insert(draft: Draft, step: Step): void {
  let index = draft.steps.length
  for (let before = draft.steps[index - 1]; before && isPiece(before); before = draft.steps[index - 1])
    index -= 1
  draft.steps.splice(index, 0, step)
  if (step.kind === 'tool') draft.calls.set(step.id, index)
}

function addCall(draft: Draft, block: Fields, about: About): void {
  insert(draft, {
    kind: 'tool',
    key: draft.nextKey++,
    id: textOf(block.id),
    name: textOf(block.name) || 'tool',
    input: block.input ?? null,
    state: 'running',
    result: null,
    ...about,
    durationMs: null,
  })
}

function readResults(draft: Draft, line: Fields): void {
  for (const block of blocksOf(fieldsOf(line.message).content)) {
    if (block.type !== 'tool_result') continue
    const index = draft.calls.get(textOf(block.tool_use_id)) ?? -1
    const call = draft.steps[index]
    if (call?.kind !== 'tool' || call.result !== null) continue
    draft.steps[index] = resultOf(call, block, line)
  }
}

function resultOf(call: ToolStep, block: Fields, line: Fields): ToolStep {
  return {
    ...call,
    state: block.is_error === true ? 'failed' : 'done',
    durationMs: between(call.at, stringOrNull(line._ts)),
    result: {
      content: outputOf(block.content),
      line: numberOrNull(line._n),
      isCut: line._truncated === true,
    },
  }
}

function readSystem(draft: Draft, line: Fields, about: About): void {
  if (line.subtype === 'init') draft.model = stringOrNull(line.model) ?? draft.model
  const key = draft.nextKey
  if (line.subtype === 'notice') {
    const level = line.level === 'warning' || line.level === 'error' ? line.level : 'info'
    insert(draft, { kind: 'notice', key, level, message: textOf(line.message), ...about })
  } else if (line.subtype === 'compact') {
    const [beforeTokens, afterTokens] = [numberOrNull(line.before_tokens), numberOrNull(line.after_tokens)]
    insert(draft, { kind: 'compaction', key, beforeTokens, afterTokens, ...about })
  } else return
  draft.nextKey += 1
}

function addError(draft: Draft, line: Fields, about: About): void {
  insert(draft, {
    kind: 'error',
    key: draft.nextKey++,
    error: textOf(line.error) || 'error',
    message: textOf(line.message),
    isRetryable: line.retryable === true,
    ...about,
  })
}

function addResult(draft: Draft, line: Fields, about: About): void {
  finish(draft)
  draft.steps.push({
    kind: 'result',
    key: draft.nextKey++,
    isError: line.is_error === true || line.subtype === 'error',
    text: stringOrNull(line.result),
    totalMs: numberOrNull(line.duration_ms),
    turns: numberOrNull(line.num_turns),
    usage: usageOf(line.usage),
    ...about,
  })
}

/** Nothing follows: pieces without their block were not stored, and open calls have no result. */
function finish(draft: Draft): void {
  const complete = draft.steps.filter((step) => !isPiece(step))
  draft.steps = complete.map((step) =>
    step.kind === 'tool' && step.state === 'running' ? { ...step, state: 'unfinished' } : step,
  )
  for (const [index, step] of draft.steps.entries()) if (step.kind === 'tool') draft.calls.set(step.id, index)
}

function between(from: string | null, to: string | null): number | null {
  if (from === null || to === null) return null
  const ms = Date.parse(to) - Date.parse(from)
  return Number.isFinite(ms) && ms >= 0 ? ms : null
}
