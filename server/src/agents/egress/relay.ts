import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { request as plainRequest, type RequestOptions } from 'node:http'
import { type Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex, Transform } from 'node:stream'
import { pipeline } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { pinnedLookup } from '../../kit/addresses.ts'
import { createMask, maskText } from './mask.ts'
import type { Bound, Target } from './rules.ts'
import { substitute } from './substitute.ts'

/** One request of an agent on its way. */
export type Relayed = {
  target: Target
  addresses: readonly string[]
  isTls: boolean
  /** Credentials that are put in; without any, what comes back is not looked into. */
  bound: readonly Bound[]
  /** Of the connection it came over; null: a connection of its own. */
  agent: TlsAgent | null
  /** Path and query. */
  path: string
  /** Told before anything is sent. */
  used(names: readonly string[]): void
  unreachable(error: Error): void
}

/** Silence after which a connection is given up. */
export const idleMs = 15 * 60_000

/** Sends a request on and its answer back. Never throws. */
export function relay(request: IncomingMessage, response: ServerResponse, how: Relayed): void {
  const { sent, secrets } = send(request, how)
  sent.once('response', (answer) => answerWith(answer, response, secrets))
  sent.once('error', (error) => {
    // The agent went away: nothing is wrong with the host.
    if (response.destroyed) return
    if (response.headersSent) return void response.destroy()
    how.unreachable(error)
    response.writeHead(502, { 'content-type': 'text/plain', connection: 'close' })
    response.end('The host cannot be reached, or its certificate is not good.\n')
  })
  response.once('close', () => sent.destroy())
  pipeline(request, sent, () => {})
}

/** The same for a request that turns its connection into something else, as WebSockets do. */
export function relayUpgrade(request: IncomingMessage, near: Duplex, head: Buffer, how: Relayed): void {
  const { sent, secrets } = send(request, how)
  const end = () => near.destroy()
  near.on('error', () => sent.destroy())
  near.once('close', () => sent.destroy())
  sent.once('error', (error) => {
    how.unreachable(error)
    end()
  })
  sent.once('response', (answer) => {
    near.end(
      `HTTP/1.1 ${answer.statusCode ?? 502} ${answer.statusMessage ?? ''}\r\nConnection: close\r\n\r\n`,
    )
    answer.destroy()
  })
  sent.once('upgrade', (answer, far, first) => {
    const lines = pairsOf(answer).map(([name, value]) => `${name}: ${maskText(value, secrets)}\r\n`)
    near.write(`HTTP/1.1 101 ${answer.statusMessage ?? ''}\r\n${lines.join('')}\r\n`)
    if (first.length > 0) far.unshift(first)
    if (head.length > 0) near.unshift(head)
    near.pipe(far)
    if (secrets.length > 0) far.pipe(createMask(secrets)).pipe(near)
    else far.pipe(near)
    far.on('error', end)
    far.once('close', end)
    near.once('close', () => far.destroy())
  })
  sent.end()
}

function send(request: IncomingMessage, how: Relayed): { sent: ClientRequest; secrets: string[] } {
  const { target, isTls, bound, agent } = how
  const isUpgrade = request.headers.upgrade !== undefined
  const kept = pairsOf(request).filter(
    // Compressed frames could not be searched.
    ([name]) => !isHop(name, isUpgrade) && (bound.length === 0 || !/^sec-websocket-extensions$/i.test(name)),
  )
  const { headers, path, used, secrets } = substitute(kept, how.path, bound)
  how.used(used)
  const own: [string, string][] = [
    ['Host', hostHeader(target, isTls)],
    // What comes back is looked into, so it must be readable.
    ...(bound.length > 0 ? [['Accept-Encoding', 'identity'] as [string, string]] : []),
    ...(request.headers['transfer-encoding'] ? [['Transfer-Encoding', 'chunked'] as [string, string]] : []),
  ]
  const replaced = new Set(own.map(([name]) => name.toLowerCase()))
  const all = [...headers.filter(([name]) => !replaced.has(name.toLowerCase())), ...own]
  const options: RequestOptions = {
    host: target.host,
    port: target.port,
    method: request.method ?? 'GET',
    path,
    headers: all.flat(),
    setHost: false,
    lookup: pinnedLookup(how.addresses),
    agent: agent ?? false,
    timeout: idleMs,
  }
  const sent = isTls
    ? tlsRequest({ ...options, ...(isIP(target.host) ? {} : { servername: target.host }) })
    : plainRequest(options)
  sent.once('timeout', () => sent.destroy(new Error('silent')))
  return { sent, secrets: bound.length > 0 ? secrets : [] }
}

function answerWith(answer: IncomingMessage, response: ServerResponse, secrets: readonly string[]): void {
  const isBare = answer.statusCode === 204 || answer.statusCode === 304 || response.req.method === 'HEAD'
  const encoding = answer.headers['content-encoding']?.toLowerCase() ?? 'identity'
  const decoders = secrets.length > 0 && !isBare ? decodersOf(encoding) : []
  if (decoders === null) {
    // Closed on purpose: what cannot be read cannot be searched for what must not come back.
    answer.destroy()
    response.writeHead(502, { 'content-type': 'text/plain' })
    return void response.end('The answer is in an encoding that the platform does not know.\n')
  }
  const dropped = decoders.length > 0 ? ['content-encoding', 'content-length'] : []
  const headers = pairsOf(answer)
    .filter(([name]) => !isHop(name, false) && !dropped.includes(name.toLowerCase()))
    .map(([name, value]) => [name, maskText(value, secrets)])
  response.writeHead(answer.statusCode ?? 502, maskText(answer.statusMessage ?? '', secrets), headers.flat())
  const steps = secrets.length > 0 && !isBare ? [...decoders, createMask(secrets)] : []
  pipeline([answer, ...steps, response], (error) => error && response.destroy())
}

/** Null for an encoding that is not known. */
function decodersOf(encoding: string): Transform[] | null {
  switch (encoding) {
    case 'identity':
    case '':
      return []
    case 'gzip':
    case 'x-gzip':
      return [createGunzip()]
    case 'deflate':
      return [createInflate()]
    case 'br':
      return [createBrotliDecompress()]
    default:
      return null
  }
}

function pairsOf({ rawHeaders }: IncomingMessage): [string, string][] {
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    pairs.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? ''])
  return pairs
}

const hops = [
  'keep-alive',
  'proxy-authorization',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'expect',
]

/** Of one connection alone. */
function isHop(name: string, isUpgrade: boolean): boolean {
  const lower = name.toLowerCase()
  if (lower === 'connection' || lower === 'upgrade') return !isUpgrade
  return hops.includes(lower)
}

function hostHeader({ host, port }: Target, isTls: boolean): string {
  const name = isIP(host) === 6 ? `[${host}]` : host
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`
}
