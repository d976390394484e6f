import { type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { Readable } from 'node:stream'
import { pinnedLookup } from './addresses.ts'

export type PinnedRequest = {
  /** Resolved addresses of the host. */
  addresses: readonly string[]
  method: string
  headers: Record<string, string>
  /** Streamed as the request body; none when absent. */
  body?: Readable
  signal: AbortSignal
}

/**
 * Sends a request only to addresses that were checked before. Makes no further lookup, uses no proxy and
 * follows no redirect. Rejects on network errors and when the signal aborts.
 */
export function requestPinned(address: string, request: PinnedRequest): Promise<IncomingMessage> {
  const { addresses, method, headers, body, signal } = request
  const url = new URL(address)
  const options: RequestOptions = {
    method,
    headers,
    lookup: pinnedLookup(addresses),
    agent: false,
    signal,
  }
  return new Promise((resolve, reject) => {
    const outgoing = url.protocol === 'https:' ? tlsRequest(url, options) : plainRequest(url, options)
    outgoing.once('response', resolve)
    outgoing.on('error', reject)
    if (!body) return void outgoing.end()
    body.once('error', (error) => outgoing.destroy(error))
    body.pipe(outgoing)
  })
}
