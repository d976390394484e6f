import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { readBody } from './body.ts'
import { receivedKeys } from './keys.ts'
import type { KeyKind, LoggedRequest } from './log.ts'
import type { Provider } from './provider.ts'

/** A completely received request. */
export type Received = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  keys: Partial<Record<KeyKind, string>>
  body: Buffer | 'too_large' | 'unreadable'
}

/** Reads a request to its end. Rejects when the client disconnects before. */
export async function receive(request: IncomingMessage): Promise<Received> {
  const url = parseUrl(request.url ?? '/')
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    keys: receivedKeys(request.headers, url.searchParams),
    // Always read, because on a kept-alive connection the body would precede the next request.
    body: await readBody(request),
  }
}

/** The log entry as far as it depends only on the request. */
export function logLine(received: Received, provider: Provider | null): LoggedRequest {
  const query = new URLSearchParams(received.query)
  query.delete('key')
  // Object.entries widens the names; the object has no others.
  const [first] = Object.entries(received.keys) as [KeyKind, string][]
  return {
    time: new Date().toISOString(),
    provider: provider?.name ?? null,
    method: received.method,
    path: query.size === 0 ? received.path : `${received.path}?${query}`,
    model: null,
    key_kind: first?.[0] ?? null,
    key: first?.[1] ?? null,
    keys: received.keys,
    status: 200,
    kind: 'probe',
    directives: [],
    user_text: null,
  }
}

/** Equal for equal requests in each run; different for each request of a conversation. */
export function idOf({ path }: Received, body: Buffer): string {
  return createHash('sha256').update(path).update(body).digest('hex').slice(0, 24)
}

/** Removes doubled and trailing slashes: a base address may end in a slash. */
function parseUrl(raw: string): URL {
  const [path = '', ...query] = raw.replace(/^https?:\/\/[^/?]*/i, '').split('?')
  const clean = `/${path}`.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
  return URL.parse(`${clean}?${query.join('?')}`, ORIGIN) ?? new URL(ORIGIN)
}

/** Required by URL; never requested. */
const ORIGIN = 'http://model.invalid'
