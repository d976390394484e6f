import { rm } from 'node:fs/promises'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, ListenOptions } from 'node:net'

export type ListenAddress = { host: string; port: number } | { path: string }

/** A server on one address. Rejects with a sentence that names the address when it cannot be bound. */
export async function listen(address: ListenAddress, handler: RequestListener): Promise<Server> {
  const server = createServer({ requestTimeout: 300_000, keepAliveTimeout: 75_000 }, handler)
  if ('path' in address) await rm(address.path, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new CannotListen(address, error)))
    server.listen(bindOptions(address), resolve)
  })
  return server
}

/** Who stands behind a socket file is another user than the platform; what it may do its credential says. */
function bindOptions(address: ListenAddress): ListenOptions {
  if ('path' in address) return { path: address.path, readableAll: true, writableAll: true }
  return { host: address.host, port: address.port }
}

export class CannotListen extends Error {
  constructor(address: ListenAddress, cause: Error) {
    const where = 'path' in address ? address.path : `${address.host}:${address.port}`
    const taken = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
    super(taken ? `${where} is in use by another program.` : `Cannot listen on ${where}: ${cause.message}`, {
      cause,
    })
    this.name = 'CannotListen'
  }
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

/** Stops taking connections, lets open requests end until `graceMs`, then cuts them. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(timer)
}

/** Sends requests below `prefix` to a raw handler and everything else to the application. */
export function withRawPrefix(
  prefix: string,
  raw: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  rest: RequestListener,
): RequestListener {
  return (request, response) => {
    if (!request.url?.startsWith(prefix)) return rest(request, response)
    raw(request, response).catch(() => {
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
  }
}
