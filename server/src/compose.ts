/**
 * Composition root: builds the areas from left to right and fills their ports to areas on the right. Contains no
 * decisions.
 */
import { resolve } from 'node:path'
import { type AgentsArea, createAgentsArea } from './agents/area.ts'
import { agentsPlatformPolicy } from './agents/area-deps.ts'
import type { Composition } from './composition.ts'
import type { Config } from './config.ts'
import { createConversationsArea } from './conversations/area.ts'
import { openFoundationArea } from './foundation/area.ts'
import { createAccessRevocation } from './http/access-revocation.ts'
import { createGuard } from './http/guard.ts'
import { createInternalCredentials } from './http/internal-credentials.ts'
import { isLinkTouched, isTouched, refuseAfter, refuseBefore } from './identity/access/index.ts'
import { openIdentityArea } from './identity/area.ts'
import { firstAdminName } from './identity/users/index.ts'
import type { Secret } from './kit/secret.ts'
import { createOperationsArea } from './operations/area.ts'
import { readBuildInfo } from './operations/version/index.ts'
import { createAgentLinkHub } from './ports/agent-link/hub.ts'
import type { AgentsNetwork } from './ports/containers/port.ts'
import { createRunRecords, createRunsArea } from './runs/area.ts'
import { createSkillsArea } from './skills/area.ts'
import type { Adapters } from './start/adapters.ts'
import { agentsOptions, defaultSkillSource, installedOf, providerBaseUrls } from './start/installed.ts'
import { createTriggersArea } from './triggers/area.ts'

const root = resolve(import.meta.dirname, '../..')

export async function compose(
  config: Config,
  adapters: Adapters,
  {
    agentsHost,
    ownAddresses,
    openClosedNetwork,
    internalSecret,
    replicaId,
  }: {
    /** Host name of the internal listener for agents. */
    agentsHost(): string
    /** Where agents reach this process. */
    ownAddresses(): readonly string[]
    openClosedNetwork(): Promise<AgentsNetwork>
    /** Credential of the platform's own processes. */
    internalSecret: Secret
    /** Id of this process among the replicas. */
    replicaId: string
  },
): Promise<Composition> {
  const { db, ephemeral, containers, images, git, host, clock, log, meters } = adapters
  /** Dependencies of every area. */
  const base = { db, clock, log }

  const providers = providerBaseUrls(config)
  const foundation = await openFoundationArea({
    ...base,
    ephemeral,
    key: config,
    installed: installedOf(config),
    providers,
    gitBaseUrl: config.gitBaseUrl,
    baseUrl: config.baseUrl,
    replicaId,
  })
  const { vault, outbox, leases, alerts, limits, audit, settings, works, idempotency } = foundation

  const agentNames = async (ids: string[]) => {
    const known = await Promise.all(ids.map((id) => agents.agentRecords.byId(id)))
    return new Map(known.flatMap((agent) => (agent ? [[agent.id, agent.name] as const] : [])))
  }
  const agentName = async (id: string) => (await agents.agentRecords.byId(id))?.name ?? null
  const identity = await openIdentityArea({
    ...base,
    ephemeral,
    vault,
    limits,
    settings,
    mail: adapters.mail,
    baseUrl: config.baseUrl,
    isDemo: config.demo,
    agentNames,
    onConnectorKeyEnded: (tx, key) => agents.connectors.keyEnded(tx, key),
    runs: {
      running: (run) => records.executions.runningOf(run),
      agent: (id) => agents.agentRecords.byId(id),
      principalFor: (agentId, principal) => agents.runContexts.principal(agentId, principal),
    },
  })
  const { changes, users, allowList, sessions, keys, identify } = identity

  const accessRevocation = createAccessRevocation()
  outbox.on('execution.finished', ({ fields: { execution_id } }) => {
    if (typeof execution_id === 'string') changes.notice({ execution_id })
  })
  changes.on((change) => accessRevocation.recheckCallers((caller) => isTouched(caller, change)))
  const hub = createAgentLinkHub({ ephemeral, ownAddresses, isKeyWorking: keys.isWorking, clock, log })
  changes.on((change) => hub.recheck((link) => isLinkTouched(link, change)))
  const accountName = async (id: string) => {
    const account = await users.find(id)
    return account && (account.email ?? account.username)
  }
  const accountIdOf = async (login: string) => (await users.holderOf(db, login))?.id ?? null
  const records = createRunRecords({
    ...base,
    meters,
    ephemeral,
    events: outbox,
    settings,
    hub,
    accountName,
    isPlatformEnabled: () => settings.value('dispatch_breaker_enabled'),
    keepaliveSeconds: config.keepaliveSeconds,
    mac: (text) => vault.mac(text, 'broker'),
    earlierMacs: (text) => vault.earlierTurnMacs(text, 'broker'),
    brokerUrl: () => `http://${agentsHost()}:${config.internalPort}/broker`,
    providerKey: (provider) => settings.providerKey(provider),
    providerBaseUrl: (provider) => providers[provider],
    runtimeOf: async (agentId) => (await agents.agentRecords.byId(agentId))?.runtime ?? null,
    vault,
    isAutoSwitchOn: () => settings.value('subscription_auto_switch'),
    alerts,
  })

  const agents: AgentsArea = createAgentsArea({
    ...base,
    usedEngines: foundation.replicas.usedEngines,
    isOnlyMachine: db.dialect === 'sqlite',
    ephemeral,
    containers,
    host,
    images,
    git,
    meters,
    history: adapters.history,
    historySettings: settings,
    outward: adapters.outward,
    openClosedNetwork,
    platformAddresses: hub.addresses,
    gitHost: adapters.gitHost,
    link: records.link,
    vault,
    events: outbox,
    leases,
    alerts,
    idempotency,
    users,
    keys,
    changes,
    sessions,
    allowAddress: (tx, email, by) =>
      allowList.allowAddress(tx, email, by.user.username, 'agent_sharing').then(() => {}),
    accessLost: accessRevocation.recheck,
    systemOwner: async () => (await users.findLogin(firstAdminName))?.account ?? null,
    platform: agentsPlatformPolicy({
      settings,
      limits,
      gitTokens: identity.gitTokens,
      mcpUrl: foundation.mcpUrl,
    }),
    needs: {
      ...records.view,
      lockRuns: records.executions.lockRuns,
      stopRuns: records.executions.stopRuns,
      renewLeases: (agentId, beat) => runs.dispatch.beat(agentId, beat),
      isBreakerOpen: records.breakers.isOpen,
      scheduleCounts: () => triggers.schedules.scheduleCounts(),
      schedulesOf: (agentId) => triggers.schedules.schedulesOf(agentId),
      schedulesAbove: (tx, agentId, seconds) => triggers.schedules.schedulesAbove(tx, agentId, seconds),
      skillsBlock: (agentId) => skills.block(agentId),
      skillsAtStart: (agentId, since) => skills.atStart(agentId, since),
      redeemTicket: (ticket) => operations.redeemTicket(ticket),
    },
    options: agentsOptions(config, agentsHost),
  })

  const build = await readBuildInfo(root, {
    installSource: config.installSource,
    entitlements: config.entitlements,
  })
  const skills = createSkillsArea({
    ...base,
    leases,
    events: outbox,
    settings,
    agents,
    link: records.link,
    git,
    alerts,
    defaultSource: defaultSkillSource(config, build.version),
    bundledFolder: resolve(root, 'server/skills'),
  })
  const runs = createRunsArea({
    ...base,
    events: outbox,
    idempotency,
    works,
    records,
    runKeys: identity.runKeys,
    leases,
    users,
    workspaceHistory: adapters.history,
    hasSeveralMachines: foundation.replicas.hasSeveralMachines,
    agents,
    testProvider: foundation.testProvider,
    accountName,
    accountIdOf,
    dailyLimitUsd: () => settings.value('ops_cost_limit_daily_usd'),
    platformSettings: settings,
    platformPrompt: async () => settings.value('platform_prompt').trim() || null,
    queueDepth: config.queueDepth,
    mayBegin: skills.mayBegin,
    scheduleCounts: () => triggers.schedules.scheduleCounts(),
    alerts,
    joinConversation: (tx, party, request) => conversations.chat.joinConversation(tx, party, request),
    agentName,
  })
  const triggers = createTriggersArea({
    fireLateness: (seconds) => meters.scheduleLateness.observe([], seconds),
    deliverResult: (tx, what) => conversations.chat.deliverResult(tx, what),
    deliver: (tx, run) => conversations.workspaceChat.deliverRun(tx, run),
    reachesAgent: (agent, email) => conversations.workspaceChat.reaches(agent.id, email),
    ...base,
    vault,
    limits,
    leases,
    audit,
    settings,
    events: outbox,
    idempotency,
    works,
    users,
    agents,
    records,
    runs,
    alerts,
    baseUrl: config.baseUrl,
    webhookRates: { perToken: config.webhookRateLimit, perAddress: config.webhookIpRateLimit },
  })
  const conversations = createConversationsArea({
    ...base,
    vault,
    events: outbox,
    idempotency,
    works,
    agents,
    records,
    runs,
    agentName,
    limits,
    identity,
    mail: adapters.mail,
    payments: adapters.payments,
    slack: { platform: adapters.chatPlatform, settings },
    retention: { settings, alerts },
    ephemeral,
    voice: { voice: adapters.voice, voiceKey: () => settings.providerKey('voice') },
    calls: { telephony: adapters.telephony, isOn: () => settings.featureFlags().voip },
    baseUrl: config.baseUrl,
    isExchangeEntitled: config.entitlements.includes('portal_delegate_exchange'),
    accessRevocation,
    publicLinks: {
      vault,
      publicUrl: () => (settings.value('public_chat_url') || config.baseUrl).replace(/\/+$/, ''),
      isOn: () => settings.featureFlags().public_links,
    },
    rateReport: (agent, holder, said) => operations.rateReport(agent, holder, said),
    asks: {
      asksOf: (email, agentIds) => operations.operatorQueue.addressed.asksOf(email, agentIds),
      answer: (by, agentIds, id, body) => operations.operatorQueue.addressed.answer(by, agentIds, id, body),
    },
  })

  hub.serve({
    ...runs.dispatch.handlers,
    hello(agent, message) {
      agents.templateDelivery.greeted(agent.agentId, message)
      return runs.dispatch.handlers.hello(agent, message)
    },
    template: (agent, message) => agents.templateDelivery.read(agent.agentId, message),
    queue: (agent, message) => operations.operatorQueue.takeFile(agent.agentId, message),
    beat: async (agent, message) => {
      await agents.health.beat(agent.agentId, message)
      if (message.disk_bytes !== undefined) await agents.disk.reported(agent.agentId, message.disk_bytes)
      return { ok: true }
    },
    connected(agent) {
      agents.linkConnected(agent.agentId)
      skills.linkConnected(agent.agentId)
      runs.dispatch.handlers.connected(agent)
      void records.transportBreaker.recordAnswer(agent.agentId)
    },
  })

  const operations = createOperationsArea({
    ...base,
    meters,
    dataDir: config.dataDir,
    containers: containers.kind,
    ephemeral,
    vault,
    backupProgram: adapters.backupProgram,
    pushService: adapters.pushService,
    replicas: foundation.replicas,
    host,
    limits,
    settings,
    outbox,
    identity,
    agents,
    records,
    runs,
    skills,
    isDemo: config.demo,
    canvases: conversations.canvases,
    schedules: triggers.schedules,
    subscriptions: triggers.subscriptions,
    leases,
    alerts,
    isLinked: hub.isConnected,
    build,
    agentImageVersion: images.tagFor('claude-code').version,
    schedulesCount: triggers.schedules.schedulesCount,
  })
  const guard = createGuard({
    identify,
    internal: createInternalCredentials({ secret: internalSecret, metricsToken: config.metricsToken }),
    agentAccess: agents.agentAccess.resolveAgent,
    refuseBefore,
    refuseAfter,
  })

  return {
    outbox,
    leases,
    audit,
    guard,
    accessRevocation,
    identify,
    hub,
    broker: records.broker,
    gitTransfers: agents.gitTransfers,
    egress: agents.egress,
    observed: operations.observed,
    version: build.version,
    engine: agents.engine,
    setupCompleted: async () => (await sessions.setupStatus()).setup_completed,
    routes: [
      ...identity.routes,
      ...foundation.routes,
      ...agents.routes,
      ...skills.routes,
      ...runs.routes,
      ...triggers.routes,
      ...conversations.routes,
      ...operations.workspaceRoutes(conversations.workspaceChat),
      ...operations.routes,
    ],
    internalRoutes: [
      ...identity.internalRoutes,
      ...triggers.internalRoutes,
      ...operations.internalRoutes,
      ...foundation.internalRoutes,
      ...agents.internalRoutes,
    ],
    socketRoutes: [...operations.socketRoutes, ...agents.socketRoutes, ...conversations.socketRoutes],
    sockets: {
      close: async () => void (await Promise.all([operations.sockets.close(), agents.terminals.close()])),
    },
    loops: [
      ...foundation.loops,
      ...identity.loops,
      ...agents.loops,
      ...skills.loops,
      ...runs.loops,
      ...triggers.loops,
      ...conversations.loops,
      ...operations.loops,
    ],
    async open() {
      await records.live.open()
      await hub.open()
      await agents.open()
      await skills.open()
      await conversations.open()
      operations.sockets.open()
    },
    async close() {
      await skills.close()
      await agents.close()
      await hub.close()
      await operations.close()
      await conversations.close()
      await triggers.close()
      await runs.close()
      await records.live.close()
      records.broker.close()
      await identity.close()
      await foundation.close()
    },
  }
}
