/**
 * The composition root: builds the areas from left to right and wires what must reach right by a port, a hook
 * or an event. Decides nothing.
 */
import { resolve } from 'node:path'
import { type AgentsArea, createAgentsArea } from './agents/area.ts'
import type { Loop } from './background/loops.ts'
import type { Config } from './config.ts'
import { chatRoutes, createChat } from './conversations/chat/index.ts'
import {
  type Audit,
  auditRoutes,
  createAudit,
  createAuditReads,
  internalAuditRoutes,
} from './foundation/audit/index.ts'
import { createIdempotency, createWorkStates } from './foundation/idempotency/index.ts'
import { createLeases, type Leases } from './foundation/leases/index.ts'
import { createOutbox, type Outbox } from './foundation/outbox/index.ts'
import { createRateLimits, rateRules } from './foundation/rate-limits/index.ts'
import { openSettings, settingsRoutes } from './foundation/settings/index.ts'
import { openVault } from './foundation/vault/index.ts'
import { createGuard, type Guard } from './http/guard.ts'
import type { Route } from './http/route.ts'
import type { SocketRoute } from './http/sockets.ts'
import { createStanding, type Standing } from './http/standing.ts'
import { type Identify, refuseAfter, refuseBefore } from './identity/access/index.ts'
import { openIdentityArea } from './identity/area.ts'
import { firstAdminName } from './identity/users/index.ts'
import { createInvariants, internalInvariantRoutes, invariantRoutes } from './operations/invariants/index.ts'
import {
  createCallerOf,
  createSockets,
  createTickets,
  liveSocketRoutes,
  type Sockets,
  socketTicketRoutes,
} from './operations/sockets/index.ts'
import { createTelemetry, telemetryRoutes } from './operations/telemetry/index.ts'
import { readBuildInfo, versionRoutes } from './operations/version/index.ts'
import { type AgentLinkHub, createAgentLinkHub } from './ports/agent-link/hub.ts'
import { createAgentView } from './runs/agent-view/index.ts'
import { analyticsRoutes, createAnalytics } from './runs/analytics/index.ts'
import {
  breakerRoutes,
  createBreakers,
  createDispatchBreaker,
  createTransportBreaker,
} from './runs/breaker/index.ts'
import { type Broker, createBroker } from './runs/broker/index.ts'
import { createDispatch, dispatchRoutes } from './runs/dispatch/index.ts'
import { createExecutions, createRunHooks, executionRoutes } from './runs/executions/index.ts'
import { createFanOuts, fanOutRoutes } from './runs/fan-out/index.ts'
import { createFleet, fleetRoutes } from './runs/fleet/index.ts'
import { createQueue, queueRoutes } from './runs/queue/index.ts'
import { createTasks, taskRoutes } from './runs/tasks/index.ts'
import { createLive } from './runs/transcripts/index.ts'
import type { Adapters } from './start/adapters.ts'
import { installedOf } from './start/installed.ts'

const root = resolve(import.meta.dirname, '../..')
/** Agents that a creator may own; admins have no bound. */
const defaultAgentQuota = 10

export type Composition = {
  outbox: Outbox
  leases: Leases
  audit: Audit
  guard: Guard
  /** Ends replies to callers who lose access to an agent while they are answered. */
  standing: Standing
  identify: Identify
  setupCompleted(): Promise<boolean>
  routes: Route[]
  /** For processes of the platform on this machine. */
  internalRoutes: Route[]
  /** Paths of the public listener on which sockets are opened. */
  socketRoutes: SocketRoute[]
  sockets: Pick<Sockets, 'close'>
  loops: Loop[]
  hub: AgentLinkHub
  broker: Broker
  version: string
  /** Follows the engine and accepts links; call once the relay runs. */
  open(): Promise<void>
  close(): Promise<void>
}

export async function compose(
  config: Config,
  adapters: Adapters,
  /** Host under which agents reach the internal listener. */
  { agentsHost }: { agentsHost(): string },
): Promise<Composition> {
  const { db, ephemeral, containers, images, host, clock, log } = adapters

  const vault = openVault(config)
  const outbox = createOutbox({ db, ephemeral, log, clock })
  const leases = createLeases({ db, clock })
  const limits = createRateLimits({ ephemeral, clock })
  const audit = createAudit({ db, clock, log })
  const auditReads = createAuditReads({ db, audit })
  const settings = await openSettings({ db, ephemeral, vault, clock, log, installed: installedOf(config) })

  const agentNames = async (ids: string[]) => {
    const known = await Promise.all(ids.map((id) => agents.directory.byId(id)))
    return new Map(known.flatMap((agent) => (agent ? [[agent.id, agent.name] as const] : [])))
  }
  const agentName = async (id: string) => (await agents.directory.byId(id))?.name ?? null
  const identity = await openIdentityArea({
    db,
    clock,
    log,
    ephemeral,
    vault,
    limits,
    settings,
    mail: adapters.mail,
    baseUrl: config.baseUrl,
    agentNames,
  })
  const { changes, users, allowList, sessions, keys, identify } = identity

  const works = createWorkStates()
  const idempotency = createIdempotency({
    db,
    clock,
    log,
    workState: works.ask,
  })

  const standing = createStanding()
  const hub = createAgentLinkHub({ ephemeral, clock, log })
  const transportBreaker = createTransportBreaker({ db, clock, log })
  const link = transportBreaker.watch(hub)
  const live = createLive({ ephemeral, log })
  const hooks = createRunHooks()
  const executions = createExecutions({ db, clock, events: outbox, link, live, hooks })
  const view = createAgentView({ db, clock, executions })
  const isPlatformEnabled = () => settings.value('dispatch_breaker_enabled')
  const breakers = createBreakers({ db, clock, isPlatformEnabled })
  const broker = createBroker({
    db,
    log,
    events: outbox,
    mac: (text) => vault.mac(text, 'broker'),
    brokerUrl: () => `http://${agentsHost()}:${config.internalPort}/broker`,
    providerKey: (provider) => settings.providerKey(provider),
    providerBaseUrl: (provider) => providerBaseUrl(config, provider),
    monotonic: () => performance.now(),
  })

  // Filled by the schedules once they are there; agents without any are left out.
  const scheduleCounts = async () => new Map<string, { total: number; enabled: number }>()
  const agents: AgentsArea = createAgentsArea({
    db,
    clock,
    log,
    ephemeral,
    containers,
    images,
    link,
    vault,
    events: outbox,
    leases,
    idempotency,
    users,
    keys,
    changes,
    allowAddress: (tx, email, by) =>
      allowList.allowAddress(tx, email, by.user.username, 'agent_sharing').then(() => {}),
    accessLost: standing.doubt,
    systemOwner: async () => (await users.findLogin(firstAdminName))?.account ?? null,
    platform: {
      sshEnabled: async () => settings.value('ssh_access_enabled'),
      limitSsh: (agentId) => limits.use(rateRules.sshAccess, agentId),
      parallelCeiling: async () => settings.ceiling().value,
      platformModel: async () => settings.value('platform_default_model').trim() || null,
      defaultResources: async () => settings.defaultResources(),
      // The routes that change the two come with the git templates and the roles of people.
      agentQuota: async () => defaultAgentQuota,
      gitRepositories: async () => [],
    },
    needs: {
      ...view,
      renewLeases: (agentId, beat) => dispatch.beat(agentId, beat),
      isBreakerOpen: breakers.isOpen,
      // Filled by the schedules once they are there.
      scheduleCounts,
      schedulesOf: async () => [],
      schedulesAbove: async () => [],
    },
    options: {
      internalPort: config.internalPort,
      tmpBytes: config.agentTmpBytes,
      sshBind: config.sshBind,
      sshPorts: config.sshPorts,
      sshHost: new URL(config.baseUrl).hostname,
      chatIdleSeconds: config.chatIdleSeconds,
      stallSeconds: config.stallSeconds,
      templatesFolder: resolve(root, 'server/templates'),
    },
  })

  const dispatch = createDispatch({
    db,
    clock,
    log,
    events: outbox,
    live,
    link,
    hooks,
    facts: agents.facts,
    settle: executions.settle,
    breaker: createDispatchBreaker({ clock, hooks, settle: executions.settle, isPlatformEnabled }),
    brokerAccess: (row) => broker.access(row),
    platformPrompt: async () => settings.value('platform_prompt').trim() || null,
    queueDepth: config.queueDepth,
  })
  agents.lifecycle.hooks.onStopping((tx, agent) => dispatch.agentStopped(tx, agent.id))
  agents.hooks.onDeleting((tx, { agent }) => dispatch.agentDeleted(tx, agent.id))
  agents.hooks.onDeleting((tx, { agent }) => breakers.forget(tx, agent.id))
  agents.hooks.onRenamed((tx, { agent, newName }) => executions.agentRenamed(tx, agent.id, newName))

  const tasks = createTasks({
    db,
    clock,
    dispatch,
    executions,
    idempotency,
    joinConversation: (tx, party, request) => chat.joinConversation(tx, party, request),
    agentName,
  })
  works.register(tasks.workState)
  const fanOuts = createFanOuts({
    db,
    clock,
    log,
    events: outbox,
    live,
    hooks,
    dispatch,
    idempotency,
    agentName,
  })
  works.register(fanOuts.workState)
  const queue = createQueue({ db, settle: executions.settle })

  const chat = createChat({
    db,
    clock,
    log,
    events: outbox,
    link,
    hooks,
    dispatch,
    executions,
    idempotency,
    agentName,
  })
  works.register(chat.workState)
  agents.hooks.onDeleting((tx, { agent }) => chat.agentDeleted(tx, agent.id))

  hub.serve({
    ...dispatch.handlers,
    beat: async (agent, message) => {
      await agents.health.beat(agent.agentId, message)
      return { ok: true }
    },
    connected(agent) {
      agents.linkConnected(agent.agentId)
      dispatch.handlers.connected(agent)
      void transportBreaker.heard(agent.agentId)
    },
  })

  const tickets = createTickets({ ephemeral, limits })
  const callerOf = createCallerOf({ sessions, keys })
  const sockets = createSockets({
    outbox,
    directory: agents.directory,
    reach: agents.reach,
    callerOf,
    changes,
    clock,
    log,
  })

  const invariants = createInvariants({
    db,
    clock,
    limitOf: agents.settings.effectiveParallel,
    isLinked: hub.isConnected,
    unreachable: breakers.unreachable,
    // Filled by the schedules once they are there.
    schedulesCount: async () => 0,
  })
  const fleet = createFleet({
    db,
    clock,
    reach: agents.reach,
    effectiveParallel: agents.settings.effectiveParallel,
    scheduleCounts,
    breakers,
  })
  const telemetry = createTelemetry({ clock, host, reach: agents.reach, health: agents.health })

  const build = await readBuildInfo(root, {
    installSource: config.installSource,
    entitlements: config.entitlements,
    voiceEnabled: config.voipEnabled,
  })
  const guard = createGuard({ identify, reach: agents.reach.reach, refuseBefore, refuseAfter })

  return {
    outbox,
    leases,
    audit,
    guard,
    standing,
    identify,
    hub,
    broker,
    version: build.version,
    setupCompleted: async () => (await sessions.setupStatus()).setup_completed,
    routes: [
      ...identity.routes,
      ...settingsRoutes(settings),
      ...auditRoutes(auditReads),
      ...agents.routes,
      ...breakerRoutes({ breakers, directory: agents.directory, settings: agents.settings }),
      ...executionRoutes(executions, log),
      ...fleetRoutes(fleet),
      ...analyticsRoutes(createAnalytics({ db, clock })),
      ...dispatchRoutes(dispatch, executions),
      ...taskRoutes(tasks),
      ...fanOutRoutes(fanOuts),
      ...queueRoutes(queue),
      ...chatRoutes(chat),
      ...socketTicketRoutes(tickets),
      ...invariantRoutes(invariants),
      ...telemetryRoutes(telemetry),
      ...versionRoutes(build, images.tagFor('claude-code').version),
    ],
    internalRoutes: [...internalInvariantRoutes(invariants), ...internalAuditRoutes(auditReads)],
    socketRoutes: liveSocketRoutes({
      sockets,
      tickets,
      callerOf,
      verifyKey: keys.verifyKey,
      directory: agents.directory,
    }),
    sockets,
    loops: [
      ...settings.loops,
      ...idempotency.loops,
      ...identity.loops,
      ...agents.loops,
      ...telemetry.loops,
      ...dispatch.loops,
      ...fanOuts.loops,
    ],
    async open() {
      await live.open()
      await hub.open()
      await agents.open()
      sockets.open()
    },
    async close() {
      await agents.close()
      await hub.close()
      await fanOuts.settled()
      await live.close()
      broker.close()
      await identity.close()
      await settings.close()
      await audit.close()
    },
  }
}

function providerBaseUrl(config: Config, provider: 'anthropic' | 'google' | 'openai'): string {
  switch (provider) {
    case 'anthropic':
      return config.anthropicBaseUrl
    case 'google':
      return config.geminiBaseUrl
    case 'openai':
      return config.openaiBaseUrl
  }
}
