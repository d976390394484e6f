import type { RequestListener, Server } from 'node:http'
import { endpoints } from '@roost/contracts'
import { maxMessageBytes } from '@roost/contracts/link/messages'
import type { Composition } from '../composition.ts'
import type { Clock } from '../kit/clock.ts'
import { Fault } from '../kit/fault.ts'
import type { Log } from '../ports/log.ts'
import { recordCall, recordSocket } from './audit.ts'
import { clientAddress, isLoopback } from './client-address.ts'
import { serveDocs } from './docs.ts'
import { foreignFault, withoutForeign } from './foreign-request.ts'
import { forwarding } from './forward.ts'
import { type HealthDeps, healthRoutes, internalHealthRoutes } from './health.ts'
import { serveErrorHelp } from './help/pages.ts'
import { withRawPrefix, withRequestId } from './listen.ts'
import { attachOutbound, withOwnAddress } from './outbound.ts'
import { type Pages, servePages } from './pages.ts'
import { createServer, type HandledRequest } from './serve.ts'
import { type SocketAttempt, type SocketRoute, serveSockets } from './sockets.ts'
import { createStreams } from './streams.ts'
import { withTransportHeaders } from './transport-headers.ts'

export type PlatformServerDeps = {
  platform: Pick<
    Composition,
    | 'routes'
    | 'internalRoutes'
    | 'socketRoutes'
    | 'guard'
    | 'accessRevocation'
    | 'identify'
    | 'audit'
    | 'hub'
    | 'broker'
    | 'gitTransfers'
    | 'egress'
    | 'observed'
    | 'version'
  >
  log: Log
  clock: Clock
  trustedProxies: string[]
  migrations: HealthDeps['migrations']
  storeProblems: HealthDeps['storeProblems']
  isStopping: HealthDeps['isStopping']
  /** The build folder of the web UI, which may be missing. */
  pagesFolder: string
  /** Port of the internal listener. */
  internalPort: number
  /** Host names under which agents reach the internal listener. */
  agentsHosts(): readonly string[]
  /** Host name under which the platform's own processes reach the control listener; null for addresses only. */
  controlHost?: string | null
  /** Address of the MCP server. Absent: no MCP server and no path for it. */
  mcpUrl?: string
  checkReplies?: boolean
}

/** The handlers of the platform's listeners. The start file decides on the addresses. */
export type PlatformServer = {
  ready(): Promise<void>
  publicHandler: RequestListener
  internalHandler: RequestListener
  /** The internal endpoints for the platform's own processes on other machines, and nothing for agents. */
  controlHandler: RequestListener
  /** Accepts live sockets on the public server. */
  attachSockets(server: Server): Server
  /** Accepts agent links on an internal server. */
  attachLinks(server: Server): Server
  /** Ends every stream, including later ones, so that a stop does not wait for readers. */
  endStreams(): void
}

export function createPlatformServer(deps: PlatformServerDeps): PlatformServer {
  const { platform, log, trustedProxies, checkReplies = false } = deps
  const shared = { guard: platform.guard, onObserved: platform.observed, checkReplies, log }
  const streams = createStreams()
  let pages: Pages | null = null
  const onHandled = (request: HandledRequest) => recordCall(platform.audit, request)
  const openApp = createServer({
    ...shared,
    accessRevocation: platform.accessRevocation,
    notFoundPage: (request, reply) => pages?.notFound(request, reply) ?? null,
    trustedProxies,
    routes: [...platform.routes, ...healthRoutes(deps)],
    streams,
    onHandled,
  })
  const publicEndpoints = endpoints.filter((endpoint) => endpoint.access.who !== 'internal')
  serveDocs(openApp, publicEndpoints, platform.version)
  serveErrorHelp(openApp)
  pages = servePages(openApp, deps.pagesFolder)
  const internalRoutes = [...internalHealthRoutes(), ...platform.internalRoutes]
  const internalApp = createServer({
    ...shared,
    trustedProxies: [],
    routes: internalRoutes,
    streams,
    onHandled,
  })

  const forAgents = internalRoutes.flatMap(({ endpoint: { access, method, path } }) =>
    access.alsoAdmits === 'agent' ? `${method} ${path}` : [],
  )
  const internalRest: RequestListener = (request, response) => {
    // Routes for the platform's own processes are hidden from the agents' network, whatever the credential.
    const isForAgents = forAgents.includes(`${request.method} ${request.url}`)
    if (!isLoopback(request.socket.remoteAddress) && !isForAgents) request.url = '/'
    internalApp.routing(request, response)
  }
  const withMcp = (rest: RequestListener) =>
    deps.mcpUrl === undefined ? rest : forwarding({ path: '/mcp', url: deps.mcpUrl, streams, log }, rest)
  const onSocket = (socket: SocketAttempt) => recordSocket(platform.audit, socket)
  return {
    async ready() {
      await openApp.ready()
      await internalApp.ready()
    },
    publicHandler: withTransportHeaders(
      trustedProxies,
      withMcp((request, response) => openApp.routing(request, response)),
    ),
    // A full URL is an outbound request: no path starts like this.
    internalHandler: withOwnAddress(
      deps.internalPort,
      withRawPrefix(
        'http:',
        platform.egress.handle,
        withoutForeign(
          deps.agentsHosts,
          withRawPrefix(
            '/git/',
            withRequestId(platform.gitTransfers.handle),
            withRawPrefix('/broker/', withRequestId(platform.broker.handle), withMcp(internalRest)),
          ),
        ),
      ),
    ),
    controlHandler: withoutForeign(
      () => (deps.controlHost ? [deps.controlHost] : []),
      (request, response) => internalApp.routing(request, response),
    ),
    attachSockets(server) {
      serveSockets(server, platform.socketRoutes, log, { onSocket, addressOf: clientAddress(trustedProxies) })
      return server
    },
    attachLinks(server) {
      serveSockets(server, [linkRoute(platform, deps.agentsHosts)], log, { onSocket })
      attachOutbound(server, platform.egress, deps.internalPort)
      return server
    },
    endStreams: streams.endAll,
  }
}

/** `/link`, with the agent's own key as bearer. 401 for an invalid key, close 4003 for any other kind of key. */
function linkRoute(
  { identify, hub }: Pick<Composition, 'identify' | 'hub'>,
  agentsHosts: () => readonly string[],
): SocketRoute {
  return {
    path: '/link',
    maxPayload: maxMessageBytes,
    async admit(request) {
      const foreign = foreignFault(request, agentsHosts())
      if (foreign) throw foreign
      const caller = await identify(request.headers.authorization)
      if (caller.kind === 'anonymous') throw new Fault('not_authenticated')
      // The key of the system agent has a scope of its own.
      const isOfAgent = caller.kind === 'key' && ['agent', 'system'].includes(caller.key.scope)
      // The keys of runs stay out: only the agent program opens links.
      if (!isOfAgent || caller.key.agent_id === null || caller.run) {
        return { close: 4003, reason: 'only an agent key opens a link', caller }
      }
      const { id: keyId, name: agentName, agent_id: agentId } = caller.key
      const agent = { agentId, agentName, keyId }
      return { open: (socket) => hub.accept(socket, agent, caller.user.id), caller }
    },
  }
}
