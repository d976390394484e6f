import { type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { Readable } from 'node:stream'
import { pinnedLookup } from './addresses.ts'

export type PinnedRequest = {
  /** What the host was looked up to be. */
  addresses: readonly string[]
  method: string
  headers: Record<string, string>
  /** Sent as it comes; absent for none. */
  body?: Readable
  signal: AbortSignal
}

/**
 * A request that connects to addresses which were checked before, and to nothing else: no further look-up, no
 * proxy of the environment, no redirect. Rejects when the host does not answer, and at the signal.
 */
export function requestPinned(address: string, asked: PinnedRequest): Promise<IncomingMessage> {
  const { addresses, method, headers, body, signal } = asked
  const url = new URL(address)
  const options: RequestOptions = {
    method,
    headers,
    lookup: pinnedLookup(addresses),
    agent: false,
    signal,
  }
  return new Promise((resolve, reject) => {
    const sent = url.protocol === 'https:' ? tlsRequest(url, options) : plainRequest(url, options)
    sent.once('response', resolve)
    sent.on('error', reject)
    if (!body) return void sent.end()
    body.once('error', (error) => sent.destroy(error))
    body.pipe(sent)
  })
}
