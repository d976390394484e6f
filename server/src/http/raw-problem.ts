import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ErrorCode } from '@roost/contracts/kit/errors'
import { Fault } from '../kit/fault.ts'
import { problemOf } from './problem.ts'
import { requestIdOfReply } from './request-id.ts'
import { isUploading } from './upload.ts'

/** Sends an error response outside of the web framework; aborts a response that has started. */
export function answerProblem(response: ServerResponse, error: unknown, requestId: string): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const { status, headers, body } = problemOf(error, requestId)
  response.writeHead(status, { ...headers, ...ownHeaders(requestId) }).end(JSON.stringify(body))
}

/** Returns the same response as text, for a connection without a response object, which it closes. */
export function rawProblem(error: unknown, requestId: string): string {
  const { status, headers, body } = problemOf(error, requestId)
  const text = JSON.stringify(body)
  const lines = Object.entries({
    ...headers,
    ...ownHeaders(requestId),
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`
}

function ownHeaders(requestId: string): Record<string, string> {
  return { 'content-type': 'application/json; charset=utf-8', 'x-request-id': requestId }
}

/** Errors of Node's HTTP parser and its timeout, before any handler runs. */
const parserCodes: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Sends the error body of the API for unreadable requests; Node by itself sends no body. */
export function answerBrokenRequests(server: Server): void {
  const current = new WeakMap<Duplex, ServerResponse>()
  server.on('request', (request, response) => current.set(request.socket, response))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUploading(socket)) return
    const response = current.get(socket)
    const isAnswering = response?.headersSent === true && !response.writableFinished
    if (!socket.writable || isAnswering) return void socket.destroy()
    // An earlier request on this connection is finished, so this one is new.
    const id = requestIdOfReply(response?.writableFinished ? undefined : response)
    socket.end(rawProblem(new Fault(parserCodes[error.code ?? ''] ?? 'malformed_request'), id))
  })
}
