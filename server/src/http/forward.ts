import {
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { Fault } from '../kit/fault.ts'
import type { Log } from '../ports/log.ts'
import { answerProblem } from './raw-problem.ts'
import { requestId } from './request-id.ts'
import type { OpenStreams } from './streams.ts'

/** Headers of one connection, which a proxy must not forward (RFC 9110, section 7.6.1). */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/**
 * Forwards requests for exactly `path` to another process of the platform at `url`, streaming both bodies, and passes
 * all others to `rest`. That process authenticates the caller. 503 `mcp_unavailable` while it is down.
 */
export function forwarding(
  { path, url, streams, log }: { path: string; url: string; streams: OpenStreams; log: Pick<Log, 'warn'> },
  rest: RequestListener,
): RequestListener {
  return (request, response) => {
    if (request.url?.split('?', 1)[0] !== path) return rest(request, response)
    forward(request, response, { url, streams }, (error) => {
      log.warn({ err: error, path }, 'a request could not be forwarded')
    })
  }
}

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { url, streams }: { url: string; streams: OpenStreams },
  onFailed: (error: Error) => void,
): void {
  const { method } = request
  const id = requestId(request)
  const headers = withoutHops({ ...request.headers, 'x-request-id': id })
  const forwarded = httpRequest(new URL(request.url ?? '', url), { method, headers })
  forwarded.on('response', (reply) => {
    response.writeHead(reply.statusCode ?? 502, withoutHops({ ...reply.headers, 'x-request-id': id }))
    // An event stream starts long before its first event.
    response.flushHeaders()
    reply.pipe(response)
    if (isEventStream(request, reply)) {
      const remove = streams.add(() => {
        reply.unpipe(response)
        response.end()
      })
      response.once('close', remove)
    }
    reply.on('error', () => response.destroy())
  })
  forwarded.on('error', (error) => {
    if (response.headersSent || response.destroyed) return void response.destroy()
    onFailed(error)
    answerProblem(response, new Fault('mcp_unavailable', undefined, { retry_after_seconds: 2 }), id)
  })
  response.on('close', () => forwarded.destroy())
  request.pipe(forwarded)
}

/** True for a stream that a client only listens to. A stop does not wait for it. */
function isEventStream({ method }: IncomingMessage, { headers }: IncomingMessage): boolean {
  return method === 'GET' && /^text\/event-stream\b/.test(headers['content-type'] ?? '')
}

function withoutHops<T extends IncomingMessage['headers']>(headers: T): T {
  const endToEnd = { ...headers }
  for (const name of hopByHop) delete endToEnd[name]
  return endToEnd
}
