import type { ModelRequest } from './conversation.ts'
import type { JsonObject } from './json.ts'
import type { Outcome, ScriptedError, Usage } from './plan.ts'

export type ProviderName = 'anthropic' | 'google' | 'openai'

/** One provider's wire form: how its requests are read and its answers written. Pure; knows no socket. */
export type Provider = {
  name: ProviderName
  /** What a path asks for; null when it is none of this provider's. `stream`: the path itself asks for a stream. */
  route: (method: string, path: string) => Route | null
  /** Reads a body that is a JSON object; a string is the sentence to refuse it with. */
  read: (input: ReadInput) => ModelRequest | string
  /** Whether `Bash`, `Write` or a tool's own name is among the tools of the request. */
  offers: (request: ModelRequest, tool: string) => boolean
  /** The answer as the body of one response. */
  whole: (answer: Answer) => unknown
  /** The answer as a stream of text: the pieces stand between head and tail, `drip` waits between them. */
  stream: (answer: Answer) => StreamedAnswer
  /** An error in the provider's own form. */
  error: (error: ScriptedError | RefusedRequest) => JsonAnswer
  countTokens: (count: number) => unknown
  models: (names: readonly string[]) => unknown
  modelDetails: (name: string) => unknown
}

export type Route =
  | { ask: 'answer'; model: string | null; stream: boolean }
  | { ask: 'count_tokens'; model: string | null }
  | { ask: 'models' }
  | { ask: 'model'; model: string }

export type ReadInput = {
  body: JsonObject
  headers: Readonly<Record<string, string | string[] | undefined>>
  query: URLSearchParams
  route: Extract<Route, { ask: 'answer' | 'count_tokens' }>
}

export type Answer = {
  /** Unique for the request and the same on each run: made from the request's bytes. */
  id: string
  model: string
  request: ModelRequest
  outcome: Exclude<Outcome, { kind: 'error' }>
  usage: Usage
  /** Streamed in small pieces: there is something to see between them. */
  isFine: boolean
}

export type StreamedAnswer = { head: string; pieces: string[]; tail: string }

/** A request that is refused for what it is, not because a directive says so. */
export type RefusedRequest = {
  cause: 'no_key' | 'bad_request' | 'not_found' | 'too_large' | 'broken'
  message: string
}

export type JsonAnswer = { status: number; headers: Record<string, string>; body: unknown }

/** One server-sent event. */
export function event(data: unknown, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
}

/**
 * Cuts a text for streaming, into twenty pieces at most, so that a dripped answer of any length ends within twenty
 * drips. Fine pieces may be as short as four characters; others keep a short answer whole.
 */
export function piecesOf(text: string, { isFine }: { isFine: boolean }): string[] {
  const size = Math.max(isFine ? 4 : 64, Math.ceil(text.length / 20))
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = at + size + (isInsidePair(text, at + size) ? 1 : 0)
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces.length === 0 ? [''] : pieces
}

/** Half a pair of code units is no character: on the wire it would become a question mark. */
function isInsidePair(text: string, at: number): boolean {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1))
}

/** The statuses that a provider chooses itself. */
export type OwnStatuses = {
  overload: number
  /** One that the provider's CLI shows to its user at once: tries of its own would use up the N of `fail-first`. */
  failFirst: number
}

/** Status and sentence of an error. */
export function describeError(
  error: ScriptedError | RefusedRequest,
  own: OwnStatuses,
): { status: number; message: string } {
  switch (error.cause) {
    case 'fail':
      return { status: error.status ?? 400, message: `scripted failure ${error.status ?? 400}` }
    case 'fail_first':
      return { status: own.failFirst, message: `scripted failure ${own.failFirst}, for the first requests` }
    case 'rate_limit':
      return { status: 429, message: 'scripted rate limit: too many requests' }
    case 'auth':
      return { status: 401, message: 'scripted authentication error: invalid key' }
    case 'overload':
      return { status: own.overload, message: 'scripted overload: the model is overloaded' }
    case 'no_key':
      return { status: 401, message: error.message }
    case 'bad_request':
      return { status: 400, message: error.message }
    case 'not_found':
      return { status: 404, message: error.message }
    case 'too_large':
      return { status: 413, message: error.message }
    case 'broken':
      return { status: 500, message: error.message }
  }
}

/** Headers of an error: no client is to try again by itself; `retry-after` only where a limit was hit. */
export function errorHeaders(error: ScriptedError | RefusedRequest): Record<string, string> {
  return { 'x-should-retry': 'false', ...(error.cause === 'rate_limit' ? { 'retry-after': '1' } : {}) }
}
