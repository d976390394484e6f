import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { readBody } from './body.ts'
import { receivedKeys } from './keys.ts'
import type { KeyKind, LoggedRequest } from './log.ts'
import type { Provider } from './provider.ts'

/** A request that has come in completely. */
export type Received = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  keys: Partial<Record<KeyKind, string>>
  body: Buffer | 'too_large' | 'unreadable'
}

/** Reads a request to its end. Rejects when the client leaves before it. */
export async function receive(request: IncomingMessage): Promise<Received> {
  const url = parseUrl(request.url ?? '/')
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    keys: receivedKeys(request.headers, url.searchParams),
    // Read even where it is of no use: a connection that is kept alive must not carry it into the next request.
    body: await readBody(request),
  }
}

/** The line for the log as far as the request alone tells it. */
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

/** The same for the same request on each run, and another one for each request of a conversation. */
export function idOf({ path }: Received, body: Buffer): string {
  return createHash('sha256').update(path).update(body).digest('hex').slice(0, 24)
}

/** A base address that ends in a slash must not lead to `//v1`: doubled and closing slashes are dropped. */
function parseUrl(sent: string): URL {
  const [path = '', ...query] = sent.replace(/^https?:\/\/[^/?]*/i, '').split('?')
  const clean = `/${path}`.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
  return URL.parse(`${clean}?${query.join('?')}`, ORIGIN) ?? new URL(ORIGIN)
}

/** A URL needs one; it is never asked. */
const ORIGIN = 'http://model.invalid'
