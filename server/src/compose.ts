/**
 * The composition root: builds the areas from left to right and wires what must reach right by a port, a hook
 * or an event. Decides nothing.
 */
import { join, resolve } from 'node:path'
import { type AgentsArea, createAgentsArea } from './agents/area.ts'
import type { Loop } from './background/loops.ts'
import type { Config } from './config.ts'
import { createConversationsArea } from './conversations/area.ts'
import {
  type Audit,
  auditRetention,
  auditRoutes,
  createAudit,
  createAuditReads,
  internalAuditRoutes,
} from './foundation/audit/index.ts'
import { createIdempotency, createWorkStates } from './foundation/idempotency/index.ts'
import { createLeases, type Leases } from './foundation/leases/index.ts'
import { createOutbox, type Outbox } from './foundation/outbox/index.ts'
import { createRateLimits, rateRules } from './foundation/rate-limits/index.ts'
import {
  createProviderTest,
  gitApiAddress,
  openSettings,
  platformSettingRoutes,
  settingsRoutes,
} from './foundation/settings/index.ts'
import { openVault } from './foundation/vault/index.ts'
import { createGuard, type Guard } from './http/guard.ts'
import type { Route } from './http/route.ts'
import type { SocketRoute } from './http/sockets.ts'
import { createStanding, type Standing } from './http/standing.ts'
import { type Identify, isTouched, refuseAfter, refuseBefore } from './identity/access/index.ts'
import { openIdentityArea } from './identity/area.ts'
import { firstAdminName } from './identity/users/index.ts'
import { createOperationsArea, type OperationsArea } from './operations/area.ts'
import type { Sockets } from './operations/sockets/index.ts'
import { readBuildInfo } from './operations/version/index.ts'
import { type AgentLinkHub, createAgentLinkHub } from './ports/agent-link/hub.ts'
import type { AgentsNetwork } from './ports/containers/port.ts'
import { createRunRecords, createRunsArea } from './runs/area.ts'
import type { Broker } from './runs/broker/index.ts'
import { createSkillsArea } from './skills/area.ts'
import type { DefaultSource } from './skills/sources/index.ts'
import type { Adapters } from './start/adapters.ts'
import { installedOf } from './start/installed.ts'
import { createTriggersArea } from './triggers/area.ts'

const root = resolve(import.meta.dirname, '../..')
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
  gitTransfers: AgentsArea['gitTransfers']
  egress: AgentsArea['egress']
  /** How long a request took, for the figures. */
  observed: OperationsArea['observed']
  version: string
  /** Follows the engine and accepts links; call once the relay runs. */
  open(): Promise<void>
  close(): Promise<void>
}

export async function compose(
  config: Config,
  adapters: Adapters,
  /** Host under which agents reach the internal listener. */
  { agentsHost, openClosed }: { agentsHost(): string; openClosed(): Promise<AgentsNetwork> },
): Promise<Composition> {
  const { db, ephemeral, containers, images, git, host, clock, log } = adapters
  /** What every area stands on. */
  const base = { db, clock, log }

  const vault = openVault(config)
  const outbox = createOutbox({ db, ephemeral, log, clock })
  const leases = createLeases({ db, clock })
  const limits = createRateLimits({ ephemeral, clock })
  const audit = createAudit({ db, clock, log })
  const auditReads = createAuditReads({ db, audit })
  const settings = await openSettings({ db, ephemeral, vault, clock, log, installed: installedOf(config) })

  const mcpUrl = () => settings.value('mcp_url') || `${config.baseUrl}/mcp`
  const testProvider = createProviderTest({
    fetch,
    addresses: {
      anthropic: providerBaseUrl(config, 'anthropic'),
      google: providerBaseUrl(config, 'google'),
      openai: providerBaseUrl(config, 'openai'),
      github: gitApiAddress(config.gitBaseUrl),
    },
  })

  const agentNames = async (ids: string[]) => {
    const known = await Promise.all(ids.map((id) => agents.directory.byId(id)))
    return new Map(known.flatMap((agent) => (agent ? [[agent.id, agent.name] as const] : [])))
  }
  const agentName = async (id: string) => (await agents.directory.byId(id))?.name ?? null
  const identity = await openIdentityArea({
    ...base,
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
    ...base,
    workState: works.ask,
  })

  const standing = createStanding()
  changes.on((change) => standing.doubtCallers((caller) => isTouched(caller, change)))
  const hub = createAgentLinkHub({ ephemeral, clock, log })
  const records = createRunRecords({
    ...base,
    ephemeral,
    events: outbox,
    hub,
    isPlatformEnabled: () => settings.value('dispatch_breaker_enabled'),
    mac: (text) => vault.mac(text, 'broker'),
    brokerUrl: () => `http://${agentsHost()}:${config.internalPort}/broker`,
    providerKey: (provider) => settings.providerKey(provider),
    providerBaseUrl: (provider) => providerBaseUrl(config, provider),
    vault,
    isAutoSwitchOn: () => settings.value('subscription_auto_switch'),
    raiseAlert: (tx, alert) => operations.operatorQueue.raiseAlert(tx, alert),
  })

  const agents: AgentsArea = createAgentsArea({
    ...base,
    ephemeral,
    containers,
    images,
    git,
    outward: adapters.outward,
    openClosed,
    gitHost: adapters.gitHost,
    link: records.link,
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
      agentQuota: async () => settings.value('max_agents_creator'),
      gitRepositories: async () => settings.templateRepositories(),
      platformGitToken: () => settings.providerKey('github'),
      ownGitTokenOf: identity.gitTokens.tokenOf,
      gitTokenOf: async (userId) =>
        (await identity.gitTokens.tokenOf(userId)) ?? settings.providerKey('github'),
      mcpUrl,
      limitKeys: (userId) => limits.use(rateRules.keyCreation, userId),
      limitCredentials: (agentId) => limits.use(rateRules.credentials, agentId),
      limitVerify: (agentId) => limits.use(rateRules.keyVerify, agentId),
    },
    needs: {
      ...records.view,
      renewLeases: (agentId, beat) => runs.dispatch.beat(agentId, beat),
      isBreakerOpen: records.breakers.isOpen,
      raiseAlert: (tx, alert) => operations.operatorQueue.raiseAlert(tx, alert),
      clearAlert: (tx, agentId, kind) => operations.operatorQueue.clearAlert(tx, agentId, kind),
      scheduleCounts: () => triggers.schedules.scheduleCounts(),
      schedulesOf: (agentId) => triggers.schedules.schedulesOf(agentId),
      schedulesAbove: (tx, agentId, seconds) => triggers.schedules.schedulesAbove(tx, agentId, seconds),
      skillsBlock: (agentId) => skills.block(agentId),
      skillsAtStart: (agentId, since) => skills.atStart(agentId, since),
    },
    options: {
      internalPort: config.internalPort,
      tmpBytes: config.agentTmpBytes,
      sshBind: config.sshBind,
      containerPrefix: config.containerPrefix,
      sshPorts: config.sshPorts,
      sshHost: new URL(config.baseUrl).hostname,
      chatIdleSeconds: config.chatIdleSeconds,
      stallSeconds: config.stallSeconds,
      templatesFolder: resolve(root, 'server/templates'),
      templateContentFolder: join(config.dataDir, 'templates'),
      gitBaseUrl: config.gitBaseUrl,
      agentsGitUrl: () => `http://${agentsHost()}:${config.internalPort}/git`,
    },
  })

  const skills = createSkillsArea({
    ...base,
    leases,
    events: outbox,
    settings,
    agents,
    link: records.link,
    git,
    raiseAlert: (tx, alert) => operations.operatorQueue.raiseAlert(tx, alert),
    clearAlert: (tx, agentId, kind) => operations.operatorQueue.clearAlert(tx, agentId, kind),
    defaultSource: defaultSkillSource(config),
    bundledFolder: resolve(root, 'server/skills'),
  })
  const runs = createRunsArea({
    ...base,
    events: outbox,
    idempotency,
    works,
    records,
    agents,
    testProvider,
    platformSettings: settings,
    platformPrompt: async () => settings.value('platform_prompt').trim() || null,
    queueDepth: config.queueDepth,
    mayBegin: skills.mayBegin,
    scheduleCounts: () => triggers.schedules.scheduleCounts(),
    raiseAlert: (tx, alert) => operations.operatorQueue.raiseAlert(tx, alert),
    joinConversation: (tx, party, request) => conversations.chat.joinConversation(tx, party, request),
    agentName,
  })
  const triggers = createTriggersArea({
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
    identify,
    raiseAlert: (tx, alert) => operations.operatorQueue.raiseAlert(tx, alert),
    baseUrl: config.baseUrl,
    webhookRates: { perToken: config.webhookRateLimit, perAddress: config.webhookIpRateLimit },
  })
  const conversations = createConversationsArea({
    ...base,
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
    baseUrl: config.baseUrl,
    isExchangeEntitled: config.entitlements.includes('portal_delegate_exchange'),
    standing,
    asks: {
      asksOf: (email, agentIds) => operations.operatorQueue.addressed.asksOf(email, agentIds),
      answer: (by, agentIds, id, body) => operations.operatorQueue.addressed.answer(by, agentIds, id, body),
    },
  })

  hub.serve({
    ...runs.dispatch.handlers,
    queue: (agent, message) => operations.operatorQueue.takeFile(agent.agentId, message),
    beat: async (agent, message) => {
      await agents.health.beat(agent.agentId, message)
      return { ok: true }
    },
    connected(agent) {
      agents.linkConnected(agent.agentId)
      skills.linkConnected(agent.agentId)
      runs.dispatch.handlers.connected(agent)
      void records.transportBreaker.heard(agent.agentId)
    },
  })

  const build = await readBuildInfo(root, {
    installSource: config.installSource,
    entitlements: config.entitlements,
    voiceEnabled: config.voipEnabled,
  })
  const operations = createOperationsArea({
    ...base,
    ephemeral,
    host,
    limits,
    settings,
    outbox,
    identity,
    agents,
    records,
    runs,
    schedules: triggers.schedules,
    leases,
    isLinked: hub.isConnected,
    build,
    agentImageVersion: images.tagFor('claude-code').version,
    schedulesCount: triggers.schedules.schedulesCount,
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
    broker: records.broker,
    gitTransfers: agents.gitTransfers,
    egress: agents.egress,
    observed: operations.observed,
    version: build.version,
    setupCompleted: async () => (await sessions.setupStatus()).setup_completed,
    routes: [
      ...identity.routes,
      ...settingsRoutes(settings),
      ...platformSettingRoutes({ settings, mcpUrl, testProvider }),
      ...auditRoutes(auditReads),
      ...agents.routes,
      ...skills.routes,
      ...runs.routes,
      ...triggers.routes,
      ...conversations.routes,
      ...operations.routes,
    ],
    internalRoutes: [
      ...triggers.internalRoutes,
      ...operations.internalRoutes,
      ...internalAuditRoutes(auditReads, audit),
      ...agents.internalRoutes,
    ],
    socketRoutes: operations.socketRoutes,
    sockets: operations.sockets,
    loops: [
      ...settings.loops,
      auditRetention({ audit, clock, log, days: () => settings.value('audit_retention_days') }),
      ...idempotency.loops,
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
      await settings.close()
      await audit.close()
    },
  }
}

/** `none` is none; the configuration counts an empty text as its default. */
function defaultSkillSource({ defaultSkillSource, defaultSkillSourceRef }: Config): DefaultSource {
  if (defaultSkillSource === 'none') return null
  return { url: defaultSkillSource, ref: defaultSkillSourceRef }
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
