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

/** Headers that belong to one connection and not to what is sent over it (RFC 9110, section 7.6.1). */
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
 * Hands requests for exactly `path` on to another process of this machine, body and answer as they come, and
 * everything else to `rest`. Who asks is checked over there. 503 `mcp_unavailable` while nobody listens there.
 */
export function forwarding(
  { path, port, streams, log }: { path: string; port: number; streams: OpenStreams; log: Pick<Log, 'warn'> },
  rest: RequestListener,
): RequestListener {
  return (request, response) => {
    if (request.url?.split('?', 1)[0] !== path) return rest(request, response)
    forward(request, response, { port, streams }, (error) => {
      log.warn({ err: error, path }, 'a request could not be handed on')
    })
  }
}

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { port, streams }: { port: number; streams: OpenStreams },
  onLost: (error: Error) => void,
): void {
  const { method, url: path } = request
  const id = requestId(request)
  const headers = withoutHops({ ...request.headers, 'x-request-id': id })
  const onward = httpRequest({ host: '127.0.0.1', port, method, path, headers })
  onward.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, withoutHops({ ...answer.headers, 'x-request-id': id }))
    // Event streams begin long before their first event.
    response.flushHeaders()
    answer.pipe(response)
    if (isStanding(request, answer)) {
      const left = streams.add(() => {
        answer.unpipe(response)
        response.end()
      })
      response.once('close', left)
    }
    answer.on('error', () => response.destroy())
  })
  onward.on('error', (error) => {
    if (response.headersSent || response.destroyed) return void response.destroy()
    onLost(error)
    answerProblem(response, new Fault('mcp_unavailable', undefined, { retry_after_seconds: 2 }), id)
  })
  response.on('close', () => onward.destroy())
  request.pipe(onward)
}

/** What a client only listens on; an answer to something that was asked is waited for. */
function isStanding({ method }: IncomingMessage, { headers }: IncomingMessage): boolean {
  return method === 'GET' && /^text\/event-stream\b/.test(headers['content-type'] ?? '')
}

function withoutHops<T extends IncomingMessage['headers']>(headers: T): T {
  const kept = { ...headers }
  for (const name of hopByHop) delete kept[name]
  return kept
}
