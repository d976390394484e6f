import type { RequestListener, Server } from 'node:http'
import { endpoints } from '@roost/contracts'
import { maxMessageBytes } from '@roost/contracts/link/messages'
import type { Composition } from '../compose.ts'
import type { Clock } from '../kit/clock.ts'
import { Fault } from '../kit/fault.ts'
import type { MigrationState } from '../ports/database/port.ts'
import type { Log } from '../ports/log.ts'
import { auditEntryOf } from './audit.ts'
import { serveDocs } from './docs.ts'
import { healthRoutes, internalHealthRoutes } from './health.ts'
import { withRawPrefix } from './listen.ts'
import { type Pages, servePages } from './pages.ts'
import { createServer } from './serve.ts'
import { type SocketRoute, serveSockets } from './sockets.ts'

export type PlatformServerDeps = {
  platform: Pick<
    Composition,
    | 'routes'
    | 'internalRoutes'
    | 'socketRoutes'
    | 'guard'
    | 'standing'
    | 'identify'
    | 'audit'
    | 'hub'
    | 'broker'
    | 'version'
  >
  log: Log
  clock: Clock
  trustedProxies: string[]
  migrations(): Promise<MigrationState>
  /** Where the build of the web UI is, or would be. */
  pagesFolder: string
  checkReplies?: boolean
}

/** The two listeners of the platform as handlers; who starts it decides on which addresses they listen. */
export type PlatformServer = {
  ready(): Promise<void>
  publicHandler: RequestListener
  internalHandler: RequestListener
  /** Lets people and programs open live sockets on the public server. */
  attachSockets(server: Server): Server
  /** Lets agents open their links on an internal server. */
  attachLinks(server: Server): Server
  /** Ends every open stream, so that a stop does not wait for readers. */
  endStreams(): void
}

export function createPlatformServer(deps: PlatformServerDeps): PlatformServer {
  const { platform, log, clock, trustedProxies, checkReplies = false } = deps
  const shared = { guard: platform.guard, checkReplies, log }
  const streams = new Set<AbortController>()
  let pages: Pages | null = null
  const openApp = createServer({
    ...shared,
    standing: platform.standing,
    notFoundPage: (request, reply) => pages?.notFound(request, reply) ?? null,
    trustedProxies,
    routes: [...platform.routes, ...healthRoutes({ clock, migrations: deps.migrations })],
    streams,
    answered(request) {
      const entry = auditEntryOf(request)
      if (entry) platform.audit.record(entry)
    },
  })
  const publicEndpoints = endpoints.filter((endpoint) => endpoint.access.who !== 'internal')
  serveDocs(openApp, publicEndpoints, platform.version)
  pages = servePages(openApp, deps.pagesFolder)
  const internalRoutes = [...internalHealthRoutes(), ...platform.internalRoutes]
  const internalApp = createServer({ ...shared, trustedProxies: [], routes: internalRoutes, streams })

  const internalRest: RequestListener = (request, response) => {
    // The agents' network reaches the link and the broker; what is for the platform's own processes is not there.
    if (!isLoopback(request.socket.remoteAddress)) request.url = '/'
    internalApp.routing(request, response)
  }
  return {
    async ready() {
      await openApp.ready()
      await internalApp.ready()
    },
    publicHandler: (request, response) => openApp.routing(request, response),
    internalHandler: withRawPrefix('/broker/', platform.broker.handle, internalRest),
    attachSockets(server) {
      serveSockets(server, platform.socketRoutes, log)
      return server
    },
    attachLinks(server) {
      serveSockets(server, [linkRoute(platform)], log)
      return server
    },
    endStreams() {
      for (const stream of streams) stream.abort()
    },
  }
}

/** `/link`: the agent's own key as bearer. 401 for a bad key, close 4003 for a key of another scope. */
function linkRoute({ identify, hub }: Pick<Composition, 'identify' | 'hub'>): SocketRoute {
  return {
    path: '/link',
    maxPayload: maxMessageBytes,
    async admit(request) {
      const caller = await identify(request.headers.authorization)
      if (caller.kind === 'anonymous') throw new Fault('not_authenticated')
      if (caller.kind !== 'key' || caller.key.scope !== 'agent' || caller.key.agent_id === null) {
        return { close: 4003, reason: 'only an agent key opens a link' }
      }
      const agent = { agentId: caller.key.agent_id, agentName: caller.key.name, keyId: caller.key.id }
      return { open: (socket) => hub.accept(socket, agent) }
    },
  }
}

/** Undefined on a unix socket, behind which a sandbox's agent stands. */
function isLoopback(address: string | undefined): boolean {
  return (
    address !== undefined &&
    (address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.'))
  )
}
