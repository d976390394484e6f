import { chmod, rm } from 'node:fs/promises'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { ListenOptions } from 'node:net'
import { followServer } from '@roost/contracts/kit/closing'
import { answerBrokenRequests, answerProblem } from './raw-problem.ts'
import { requestId } from './request-id.ts'

/**
 * `host` null for all addresses of this machine. A socket file accepts every local user, or with `isForGroup` only the
 * user and the group of this process.
 */
export type ListenAddress = { host: string | null; port: number } | { path: string; isForGroup?: boolean }

export type Listening = {
  server: Server
  /** Stops accepting connections, lets open responses end for `graceMs`, then aborts them. */
  close(graceMs: number): Promise<void>
}

/** `requestTimeout` limits the time to receive a whole request. */
export const defaultTimeouts = { requestTimeout: 300_000, keepAliveTimeout: 75_000 }

/**
 * Opens a server on one address. Rejects with `CannotListen`, which names the address. `isShared`: other processes may
 * listen on the same port, and the kernel spreads new connections over them.
 */
export async function listen(
  address: ListenAddress,
  handler: RequestListener,
  { isShared = false, ...options }: ServerOptions & { isShared?: boolean } = {},
): Promise<Listening> {
  const server = createServer({ ...defaultTimeouts, ...options }, handler)
  answerBrokenRequests(server)
  const { close } = followServer(server)
  if ('path' in address) await rm(address.path, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new CannotListen(address, error)))
    server.listen(bindOptions(address, isShared), resolve)
  })
  if ('path' in address && address.isForGroup) await chmod(address.path, 0o660)
  return { server, close }
}

/** Agents on a socket file run as other users; their credential decides what they may do. */
function bindOptions(address: ListenAddress, isShared: boolean): ListenOptions {
  if ('path' in address) {
    const isForAll = !address.isForGroup
    return { path: address.path, readableAll: isForAll, writableAll: isForAll }
  }
  const host = address.host === null ? {} : { host: address.host }
  return { ...host, port: address.port, reusePort: isShared }
}

export class CannotListen extends Error {
  constructor(address: ListenAddress, cause: Error) {
    const where = 'path' in address ? address.path : `${address.host ?? '*'}:${address.port}`
    const isInUse = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
    super(
      isInUse ? `${where} is in use by another program.` : `Cannot listen on ${where}: ${cause.message}`,
      {
        cause,
      },
    )
    this.name = 'CannotListen'
  }
}

type RawHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Sends requests below `prefix` to a raw handler and everything else to the application. */
export function withRawPrefix(prefix: string, raw: RawHandler, rest: RequestListener): RequestListener {
  return (request, response) => {
    if (!request.url?.startsWith(prefix)) return rest(request, response)
    raw(request, response).catch((error: unknown) => answerProblem(response, error, requestId(request)))
  }
}

/** Sets `X-Request-ID` on the replies of a raw handler, unless the handler passes on another server's. */
export function withRequestId(raw: RawHandler): RawHandler {
  return (request, response) => {
    response.setHeader('x-request-id', requestId(request))
    return raw(request, response)
  }
}
