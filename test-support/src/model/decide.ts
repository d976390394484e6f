import type { ModelRequest } from './conversation.ts'
import type { Decision } from './decision.ts'
import { isObject } from './json.ts'
import type { LoggedRequest } from './log.ts'
import type { JsonAnswer, Provider, RefusedRequest, Route } from './provider.ts'
import { closestProvider, isProbe, MODEL_NAMES, type Routed, routeRequest } from './providers.ts'
import { idOf, logLine, type Received } from './received.ts'
import type { Script } from './script.ts'
import { writeJson } from './writer.ts'

/** Decides about a request; requests for a model's answer go to the script. */
export function decide(received: Received, script: Script): Decision {
  const { method, path, headers } = received
  const routed = routeRequest(method, path, headers)
  if (routed) return decideRouted(received, routed, script)
  if (isProbe(method, path)) return settled(logLine(received, null), ok({}))
  return refuse(received, null, { cause: 'not_found', message: `no such endpoint: ${method} ${path}` })
}

/** Refuses a request in the format of its provider or of the most similar one. */
export function refuse(received: Received, provider: Provider | null, refused: RefusedRequest): Decision {
  const answer = (provider ?? closestProvider(received.path)).error(refused)
  return settled({ ...logLine(received, provider), status: answer.status }, answer)
}

function decideRouted(received: Received, { provider, route }: Routed, script: Script): Decision {
  const { keys, body } = received
  const bad = (message: string) => refuse(received, provider, { cause: 'bad_request', message })
  if (Object.keys(keys).length === 0) {
    return refuse(received, provider, { cause: 'no_key', message: 'no API key was sent' })
  }
  if (route.ask === 'models') return settled(logLine(received, provider), ok(provider.models(MODEL_NAMES)))
  if (route.ask === 'model') {
    return settled(logLine(received, provider), ok(provider.modelDetails(route.model)))
  }
  if (body === 'too_large') {
    return refuse(received, provider, { cause: 'too_large', message: 'the request is larger than 64 MB' })
  }
  if (body === 'unreadable') return bad('the body could not be unpacked')
  const read = readRequest({ received, body, provider, route })
  if (typeof read === 'string') return bad(read)
  const logged = logLine(received, provider)
  if (route.ask === 'answer') return script({ read, provider, logged, id: idOf(received, body) })
  const tokens = ok(provider.countTokens(Math.ceil(body.length / 4)))
  return settled({ ...logged, model: read.model || null, kind: 'side' }, tokens)
}

function readRequest(input: {
  received: Received
  body: Buffer
  provider: Provider
  route: Extract<Route, { ask: 'answer' | 'count_tokens' }>
}): ModelRequest | string {
  const { received, route } = input
  const body = parseJson(input.body.toString('utf8'))
  if (!isObject(body)) return 'the body is not a JSON object'
  return input.provider.read({ body, headers: received.headers, query: received.query, route })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function settled(logged: LoggedRequest, answer: JsonAnswer): Decision {
  return { logged, answer: async (response) => writeJson(response, answer) }
}

function ok(body: unknown): JsonAnswer {
  return { status: 200, headers: {}, body }
}
