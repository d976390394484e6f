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

/** One relayed request of an agent. */
export type Relayed = {
  target: Target
  addresses: readonly string[]
  isTls: boolean
  /** Credentials to insert; without any, responses are not inspected. */
  bound: readonly Bound[]
  /** The agent of the client connection; null opens a new connection. */
  agent: TlsAgent | null
  /** Path and query. */
  path: string
  /** Called before anything is sent. */
  used(names: readonly string[]): void
  unreachable(error: Error): void
}

/** Idle time after which a connection is closed. */
export const idleMs = 15 * 60_000

/** Forwards a request and its response. Never throws. */
export function relay(request: IncomingMessage, response: ServerResponse, how: Relayed): void {
  const { sent, secrets } = send(request, how)
  const refuse = (reason: string) => {
    // The reason is given, because the response still has the invalid one of the host.
    response.writeHead(502, 'Bad Gateway', { 'content-type': 'text/plain', connection: 'close' })
    response.end(reason)
  }
  sent.once('response', (answer) => {
    try {
      forwardResponse(answer, response, secrets)
    } catch {
      // The host sent a status or header that cannot be passed on.
      answer.destroy()
      refuse('The response of the host is not valid.\n')
    }
  })
  sent.once('error', (error) => {
    // The client disconnected; the host is not at fault.
    if (response.destroyed) return
    if (response.headersSent) return void response.destroy()
    how.unreachable(error)
    refuse('The host cannot be reached, or its certificate is invalid.\n')
  })
  response.once('close', () => sent.destroy())
  pipeline(request, sent, () => {})
}

/** Forwards an upgrade request, such as a WebSocket handshake. */
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
  const forwarded = pairsOf(request).filter(
    // Compressed WebSocket frames cannot be searched for secrets.
    ([name]) => !isHop(name, isUpgrade) && (bound.length === 0 || !/^sec-websocket-extensions$/i.test(name)),
  )
  const { headers, path, used, secrets } = substitute(forwarded, how.path, bound)
  how.used(used)
  const replacements: [string, string][] = [
    ['Host', hostHeader(target, isTls)],
    // Responses are searched for secrets, so they must not be compressed.
    ...(bound.length > 0 ? [['Accept-Encoding', 'identity'] as [string, string]] : []),
    ...(request.headers['transfer-encoding'] ? [['Transfer-Encoding', 'chunked'] as [string, string]] : []),
  ]
  const replaced = new Set(replacements.map(([name]) => name.toLowerCase()))
  const all = [...headers.filter(([name]) => !replaced.has(name.toLowerCase())), ...replacements]
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

function forwardResponse(
  answer: IncomingMessage,
  response: ServerResponse,
  secrets: readonly string[],
): void {
  const isBare = answer.statusCode === 204 || answer.statusCode === 304 || response.req.method === 'HEAD'
  const encoding = answer.headers['content-encoding']?.toLowerCase() ?? 'identity'
  const decoders = secrets.length > 0 && !isBare ? decodersOf(encoding) : []
  if (decoders === null) {
    // Fails closed: an unknown encoding cannot be searched for secrets.
    answer.destroy()
    response.writeHead(502, { 'content-type': 'text/plain' })
    return void response.end('The response uses an encoding that the platform does not support.\n')
  }
  const dropped = decoders.length > 0 ? ['content-encoding', 'content-length'] : []
  const headers = pairsOf(answer)
    .filter(([name]) => !isHop(name, false) && !dropped.includes(name.toLowerCase()))
    .map(([name, value]) => [name, maskText(value, secrets)])
  response.writeHead(answer.statusCode ?? 502, maskText(answer.statusMessage ?? '', secrets), headers.flat())
  const steps = secrets.length > 0 && !isBare ? [...decoders, createMask(secrets)] : []
  pipeline([answer, ...steps, response], (error) => error && response.destroy())
}

/** Null for an unsupported encoding. */
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

/** Hop-by-hop headers apply to one connection only. */
function isHop(name: string, isUpgrade: boolean): boolean {
  const lower = name.toLowerCase()
  if (lower === 'connection' || lower === 'upgrade') return !isUpgrade
  return hops.includes(lower)
}

function hostHeader({ host, port }: Target, isTls: boolean): string {
  const name = isIP(host) === 6 ? `[${host}]` : host
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`
}
