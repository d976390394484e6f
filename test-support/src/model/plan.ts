import type { ModelRequest, Turn } from './conversation.ts'
import type { Directive } from './directives.ts'

/** What the server does for one request, decided before the first byte. */
export type Plan = {
  delaySeconds: number
  /** Keys of `hold`: the answer waits until all are released. */
  holds: string[]
  outcome: Outcome
  /** Delay between streamed pieces of the answer. */
  pieceDelayMs: number
  /** True when the answer is cut in the middle. */
  isCut: boolean
  usage: Usage
  /** Keys of `fail-first` in this request, counted once it is answered. */
  carriedKeys: string[]
}

export type Outcome =
  | { kind: 'text'; text: string }
  | { kind: 'tool'; tool: string; input: Record<string, unknown> }
  | { kind: 'error'; error: ScriptedError }

/** `status` null uses the provider's own status for this cause. */
export type ScriptedError = {
  cause: 'fail' | 'fail_first' | 'rate_limit' | 'auth' | 'overload'
  status: number | null
}

export type Usage = { input: number; output: number }

export type PlanInput = {
  request: ModelRequest
  turn: Turn
  directives: readonly Directive[]
  isOffered: (tool: string) => boolean
  /** Number of earlier requests with this `fail-first` key. */
  timesCarried: (key: string) => number
  /** The answer to a text without directives; without it, the text is repeated. */
  answerPlain?: ((text: string) => string) | undefined
}

export const DEFAULT_USAGE: Usage = { input: 10, output: 10 }

/**
 * Decides the answer. Directives apply from left to right: those left of a tool call to the request answered
 * with the call, those right of it to the request with the result. Directives for the final answer (its text,
 * `pad`, `drip`) apply wherever they are.
 */
export function planAnswer(input: PlanInput): Plan {
  const { directives, turn } = input
  const toolAt = directives.flatMap((directive, index) => (directive.name === 'tool' ? [index] : []))
  const callsDone = Math.min(turn.toolResults.length, toolAt.length)
  const start = (toolAt[callsDone - 1] ?? -1) + 1
  const end = toolAt[callsDone] ?? directives.length
  const current = directives.filter((directive, index) => {
    return (index >= start && index < end) || (index < start && SHAPES_THE_ANSWER.has(directive.name))
  })
  const called = directives[end]
  const plan = effectsOf(current)
  const error = firstError(current, input)
  if (error) return { ...plan, outcome: { kind: 'error', error } }
  if (called?.name === 'tool') return { ...plan, outcome: callOutcome(called, input) }
  return { ...plan, outcome: { kind: 'text', text: finalText(current, input) } }
}

/** Disarms directives: received text that returns as a prompt must not act again. */
export function defuse(text: string): string {
  return text.replaceAll('[[', '((').replaceAll(']]', '))')
}

/** The first `count` characters, without splitting a surrogate pair. */
export function firstCharacters(text: string, count: number): string {
  return text.length <= count ? text : [...text.slice(0, count * 2)].slice(0, count).join('')
}

/** A surrogate pair is one character. */
function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

const SHAPES_THE_ANSWER: ReadonlySet<string> = new Set<Directive['name']>([
  'reply',
  'echo',
  'model',
  'system',
  'images',
  'recall',
  'len',
  'pad',
  'drip',
])

function effectsOf(current: readonly Directive[]): Omit<Plan, 'outcome'> {
  const plan = {
    delaySeconds: 0,
    holds: [] as string[],
    pieceDelayMs: 0,
    isCut: false,
    usage: DEFAULT_USAGE,
    carriedKeys: [] as string[],
  }
  for (const directive of current) {
    if (directive.name === 'sleep') plan.delaySeconds += directive.seconds
    if (directive.name === 'hold') plan.holds.push(directive.key)
    if (directive.name === 'drip') plan.pieceDelayMs = directive.milliseconds
    if (directive.name === 'cut') plan.isCut = true
    if (directive.name === 'usage') plan.usage = { input: directive.input, output: directive.output }
    if (directive.name === 'fail-first') plan.carriedKeys.push(directive.key)
  }
  return plan
}

function firstError(current: readonly Directive[], { timesCarried }: PlanInput): ScriptedError | null {
  for (const directive of current) {
    if (directive.name === 'fail') return { cause: 'fail', status: directive.status }
    if (directive.name === 'ratelimit') return { cause: 'rate_limit', status: 429 }
    if (directive.name === 'autherror') return { cause: 'auth', status: 401 }
    if (directive.name === 'overloaded') return { cause: 'overload', status: null }
    if (directive.name === 'fail-first' && timesCarried(directive.key) < directive.count) {
      return { cause: 'fail_first', status: null }
    }
  }
  return null
}

function callOutcome(directive: Extract<Directive, { name: 'tool' }>, { isOffered }: PlanInput): Outcome {
  const { tool } = directive
  if (!isOffered(tool)) return { kind: 'text', text: defuse(`no-tool: ${tool}`) }
  return { kind: 'tool', tool, input: directive.input }
}

function finalText(current: readonly Directive[], input: PlanInput): string {
  let text = textWithoutDirective(input)
  let padding = ''
  for (const directive of current) {
    text = answerOf(directive, input) ?? text
    if (directive.name === 'pad') padding += ` ${'x'.repeat(directive.count)}`
  }
  return defuse(text) + padding
}

function textWithoutDirective({ turn, directives, answerPlain }: PlanInput): string {
  const result = turn.toolResults.at(-1)
  const calledTool = directives.some((directive) => directive.name === 'tool')
  if (result && calledTool) return `tool-result: ${firstCharacters(result.text, 2000)}`
  return answerPlain?.(turn.text) ?? `ok: ${firstCharacters(turn.text, 200)}`
}

function answerOf(directive: Directive, { request, turn }: PlanInput): string | null {
  switch (directive.name) {
    case 'reply':
      return directive.text
    case 'echo':
      return turn.text
    case 'model':
      return request.model
    case 'system':
      return request.system
    case 'images':
      return `images=${turn.images}`
    case 'len':
      return `len=${countCharacters(turn.text)}`
    case 'recall':
      return `recall=${turn.earlier.some((text) => text.includes(directive.key)) ? 'yes' : 'no'}`
    default:
      return null
  }
}
