import type { ModelRequest } from './conversation.ts'
import type { JsonObject } from './json.ts'
import type { Outcome, ScriptedError, Usage } from './plan.ts'

export type ProviderName = 'anthropic' | 'google' | 'openai'

/** One provider's wire format: reads requests and writes answers. Pure, without sockets. */
export type Provider = {
  name: ProviderName
  /**
   * Returns the requested operation, or null for paths of other providers. `stream` is true when the path
   * requires a stream.
   */
  route: (method: string, path: string) => Route | null
  /** Reads a JSON object body; returns a string as the reason of a refusal. */
  read: (input: ReadInput) => ModelRequest | string
  /** True when the request offers `Bash`, `Write` or the named tool. */
  offers: (request: ModelRequest, tool: string) => boolean
  /** The answer as the body of one response. */
  complete: (answer: Answer) => unknown
  /** The answer as a stream: the pieces follow the head, with `drip` delays, then the tail. */
  stream: (answer: Answer) => StreamedAnswer
  /** An error in the provider's own format. */
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
  /** Unique per request but stable between runs, because it is a hash of the request. */
  id: string
  model: string
  request: ModelRequest
  outcome: Exclude<Outcome, { kind: 'error' }>
  usage: Usage
  /** Streams in small pieces, so that progress is visible. */
  isFine: boolean
}

export type StreamedAnswer = { head: string; pieces: string[]; tail: string }

/** A request refused because it is invalid, not by a directive. */
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
 * Splits a text into at most twenty pieces, so that any dripped answer ends within twenty drips. Fine pieces
 * have at least four characters, others 64.
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

/** Splitting a surrogate pair would put a question mark on the wire. */
function isInsidePair(text: string, at: number): boolean {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1))
}

/** Statuses that differ between providers. */
export type OwnStatuses = {
  overload: number
  /** A status that the CLI reports immediately: its retries would count towards the N of `fail-first`. */
  failFirst: number
}

/** Returns status and message of an error. */
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

/** Headers of an error: no automatic retry, and `retry-after` only for rate limits. */
export function errorHeaders(error: ScriptedError | RefusedRequest): Record<string, string> {
  return { 'x-should-retry': 'false', ...(error.cause === 'rate_limit' ? { 'retry-after': '1' } : {}) }
}
