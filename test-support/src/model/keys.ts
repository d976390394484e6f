import type { IncomingHttpHeaders } from 'node:http'
import type { KeyKind } from './log.ts'

/** All keys of a request, in order of precedence. */
export function receivedKeys(
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
): Partial<Record<KeyKind, string>> {
  const bearer = /^Bearer\s+(\S.*)$/i.exec(headers.authorization ?? '')?.[1]
  const candidates: [KeyKind, string | null | undefined][] = [
    ['x-api-key', single(headers['x-api-key'])],
    ['x-goog-api-key', single(headers['x-goog-api-key'])],
    ['bearer', bearer],
    ['query', query.get('key')],
  ]
  return Object.fromEntries(candidates.filter(([, key]) => key != null && key !== ''))
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
