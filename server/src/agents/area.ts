import type { Loop } from '../background/loops.ts'
import type { StoredEvent } from '../foundation/outbox/index.ts'
import type { Route } from '../http/route.ts'
import type { SocketRoute } from '../http/sockets.ts'
import {
  type AgentAccess,
  type AgentPrincipals,
  createAgentAccess,
  createAgentPrincipals,
} from './access/index.ts'
import type { AgentsAreaDeps } from './area-deps.ts'
import { type Avatars, avatarRoutes, createAvatars } from './avatars/index.ts'
import { type Bases, createBases } from './bases/index.ts'
import { type Credentials, createCredentials, credentialRoutes } from './credentials/index.ts'
import { createDisk, type Disk, diskRoutes, internalDiskRoutes } from './disk/index.ts'
import {
  createEgress,
  type EgressProxy,
  type EgressService,
  egressRoutes,
  internalEgressRoutes,
} from './egress/index.ts'
import { createFolders, createFoldersFor, folderRoutes } from './folders/index.ts'
import { createForks, type ForkService, forkRoutes } from './forks/index.ts'
import {
  createFormerWorkspaces,
  type FormerWorkspaces,
  formerWorkspaceRoutes,
} from './former-workspaces/index.ts'
import {
  type AgentGit,
  createAgentGit,
  createAgentGitTokens,
  createGitLoop,
  createTransfers,
  gitRoutes,
  repositoryRoutes,
  type Transfers,
} from './git/index.ts'
import { createHealth, type Health, healthRoutes } from './health/index.ts'
import {
  type AgentHistory,
  createAgentHistory,
  createHistoryReader,
  createHistorySettings,
  type HistoryReader,
  historyRoutes,
  restoreRoutes,
} from './history/index.ts'
import {
  createEngineIdentity,
  createLifecycle,
  type EngineIdentity,
  type Lifecycle,
  lifecycleRoutes,
  networkFor,
} from './lifecycle/index.ts'
import {
  type AgentHooks,
  type AgentManagement,
  createAgentHooks,
  createAgentManagement,
  ensureSystemAgent,
  managementRoutes,
} from './management/index.ts'
import { createMcpConnectors, type McpConnectors, mcpConnectorRoutes } from './mcp-connector/index.ts'
import { createOwnKey, ownKeyRoutes } from './own-key/index.ts'
import { createEdges, createPermissions, permissionRoutes } from './permissions/index.ts'
import { type AgentRecords, agentStore, createAgentRecords } from './records/index.ts'
import { type CallAgent, createAgentRpc } from './rpc/index.ts'
import { createRunContextCache, createRunContexts, type RunContexts } from './run-context/index.ts'
import { createSettings, internalSettingsRoutes, type Settings, settingsRoutes } from './settings/index.ts'
import { createSharing, sharingRoutes } from './sharing/index.ts'
import { createAgentSsh, sshAccessRoutes } from './ssh-access/index.ts'
import {
  createTemplateDelivery,
  openTemplates,
  type TemplateDelivery,
  type Templates,
  templateRoutes,
} from './templates/index.ts'
import { createTerminals, type Terminals, terminalSocketRoutes } from './terminal/index.ts'
import { createWorkspace, type Workspace, workspaceRoutes } from './workspace/index.ts'

export type AgentsArea = {
  agentRecords: AgentRecords
  agentAccess: AgentAccess
  historyReader: HistoryReader
  principals: AgentPrincipals
  health: Health
  disk: Disk
  history: AgentHistory
  bases: Bases
  templates: Templates
  templateDelivery: Pick<TemplateDelivery, 'greeted' | 'read'>
  lifecycle: Lifecycle
  /** The container engine of this process. */
  engine: EngineIdentity
  agentManagement: AgentManagement
  forks: ForkService
  git: AgentGit
  gitTransfers: Transfers
  /** The agents' outbound proxy, on the internal listener. */
  egress: EgressProxy
  egressPolicy: Pick<EgressService, 'view' | 'restoreRules' | 'refuseUnenforceable'>
  avatars: Pick<Avatars, 'of' | 'stored' | 'restore'>
  hooks: AgentHooks
  settings: Settings
  workspace: Workspace
  terminals: Pick<Terminals, 'close' | 'count'>
  ask: CallAgent
  connectors: McpConnectors
  runContexts: RunContexts
  /** An agent has connected; delivers what it may have missed. */
  linkConnected(agentId: string): void
  routes: Route[]
  /** For other processes of the platform on this machine. */
  internalRoutes: Route[]
  socketRoutes: SocketRoute[]
  loops: Loop[]
  open(): Promise<void>
  close(): Promise<void>
}

/** Wires the features of the area in the order of their dependencies. */
export function createAgentsArea(deps: AgentsAreaDeps): AgentsArea {
  const { db, clock, log, link, platform, needs, options } = deps
  const agentRecords = createAgentRecords(deps)
  const edges = createEdges(deps)
  const hooks = createAgentHooks()
  const { accessEnded } = hooks
  const connectors = createMcpConnectors({ ...deps, ...platform, agentRecords, accessEnded })
  const agentAccess = createAgentAccess({
    agentRecords,
    permittedTargets: edges.targetsOf,
    isConnectorOn: connectors.isOn,
  })
  const permissions = createPermissions({ ...deps, agentRecords, agentAccess, edges })
  const sharing = createSharing({ ...deps, ...needs, agentRecords, edges, accessEnded })
  const ask = createAgentRpc({ link, clock })
  const health = createHealth({ ...deps, ...needs, agentRecords, agentAccess })
  const engine = createEngineIdentity(deps.containers)
  const disk = createDisk({ ...deps, ...platform, ...options, agentRecords, engine })
  const history = createAgentHistory({
    ...deps,
    ...needs,
    settings: deps.historySettings,
    quotas: options.historyQuotas,
    agentRecords,
    recorded: (agentId, recordId) => void bases.prepare(agentId, recordId),
  })
  const { templates, loops: templateLoops } = openTemplates({
    ...deps,
    ...platform,
    agents: () => agentRecords.everyRow(),
  })
  const egress = createEgress({
    ...deps,
    ...platform,
    agentRecords,
    locate: deps.outward.agents,
    mustMove: ({ applied, egress_mode }) =>
      !deps.containers.closing.always &&
      applied !== null &&
      (applied.network ?? 'open') !== networkFor(egress_mode),
    tell: (agent) => settings.tell(agent),
    async deliver(agent) {
      if (agent.status !== 'running' || !link.isConnected(agent.id)) return
      await credentials.settleEnv(agent).catch((error: unknown) => {
        log.warn(
          { err: error, agent: agent.name },
          'could not write placeholders into a workspace; will retry',
        )
      })
    },
  })
  const credentials: Credentials = createCredentials({
    ...deps,
    ...platform,
    ask,
    templates,
    boundCredentials: egress.boundCredentials,
  })
  const lifecycle = createLifecycle({
    engine,
    injectCredentials: credentials.atStart,
    deliverSkills: needs.skillsAtStart,
    ...deps,
    ...needs,
    agentRecords,
    templateOf: templates.madeFrom,
    gitSettingsFor: (agent) => git.settingsFor(agent),
    foldersFor: createFoldersFor({ db, edges }),
    heartbeatAge: (agentId) => health.heartbeatOf(agentId).last_heartbeat_age_seconds,
    undoCreation: deps.keys.deleteAgentKeys,
    newWorkspaces: {
      isAllowed: (agent) => formerWorkspaces.isAllowed(agent),
      open: (tx, agent) => formerWorkspaces.open(tx, agent),
    },
    clearFormer: () => formerWorkspaces.clear(),
  })
  const formerWorkspaces: FormerWorkspaces = createFormerWorkspaces({
    ...deps,
    ...{ agentRecords, engine, lock: lifecycle.lock, restores: history.restores },
  })
  const isWorking = async (agentId: string) => (await needs.contextOf([agentId])).get(agentId)?.busy ?? false
  const bases: Bases = createBases({
    ...{ db, clock, log, engine, containers: deps.containers, history: deps.history },
    ...{ host: deps.host, maxBytes: options.forkBasesBytes },
    lock: lifecycle.lock,
    imageFor: lifecycle.machine.imageFor,
    isWorking,
  })
  const agentManagement = createAgentManagement({
    ...deps,
    ...platform,
    ...needs,
    agentRecords,
    edges,
    agentAccess,
    health,
    disk,
    templates,
    lifecycle,
    hooks,
    secretsOf: (agentId) => secretsOf(agentId),
  })
  const addressOf = (repository: string) => `${options.gitBaseUrl}/${repository}`
  const gitTokens = createAgentGitTokens({ ...deps, ...platform, host: deps.gitHost })
  const templateDelivery = createTemplateDelivery({
    ...deps,
    agentRecords,
    templates,
    gitTokenOf: gitTokens.of,
  })
  const gitTransfers = createTransfers({
    ...deps,
    gitUrl: options.agentsGitUrl,
    addressOf,
    locate: deps.outward.gitHost,
    tokenOf: async (agentId) => {
      // Includes agents that are still being created: their containers need to know the token's permissions.
      const agent = (await agentRecords.everyRow()).find((row) => row.id === agentId)
      return agent ? gitTokens.of(agent) : null
    },
  })
  const git: AgentGit = createAgentGit({
    ...deps,
    ...needs,
    agentRecords,
    host: deps.gitHost,
    tokens: gitTokens,
    transfers: gitTransfers,
    addressOf,
    secretsOf: (agentId) => secretsOf(agentId),
    isWorking,
  })
  hooks.onCreated(async (tx, { agent }) => {
    await git.bindNew(tx, agent)
    return {}
  })
  hooks.onCreated(async (tx, { agent, credentialSetup }) => ({
    warnings: await egress.boundCredentials.declare(tx, agent.id, credentialSetup),
  }))
  const settings = createSettings({
    ...deps,
    ...platform,
    ...needs,
    ...options,
    agentRecords,
    lifecycle,
    wayOut: egress.wayOut,
  })
  const ssh = createAgentSsh({ db, clock, log, link, ask, ...platform, sshHost: options.sshHost })
  hooks.onDeleting((tx, { agent }) => ssh.forget(tx, agent.id))
  hooks.onDeleting((tx, { agent }) => formerWorkspaces.forget(tx, agent))
  hooks.onDeleting((tx, { agent }) => credentials.secrets.forget(tx, agent.id))
  const folders = createFolders({ ...deps, agentRecords, edges, agentAccess })
  const workspace = createWorkspace({ ask })
  const historyReader = createHistoryReader({ db, history: deps.history })
  const historySettings = createHistorySettings({
    ...{ db, clock, changes: deps.changes },
    canLoseNode: deps.containers.kind === 'kubernetes',
  })
  const avatars = createAvatars(deps)
  const terminals = createTerminals({ ...deps, ...needs, agentRecords, agentAccess, ask })
  const ownKey = createOwnKey({ ...deps, ...platform, lifecycle, ask })

  const runContextCache = createRunContextCache({ ...deps, agentAccess })
  async function secretsOf(agentId: string): Promise<readonly string[]> {
    const [key, known, bound] = await Promise.all([
      runContextCache.keyOf(agentId),
      credentials.secrets.of(agentId),
      egress.secrets(agentId),
    ])
    return [...(key === null ? [] : [key]), ...known, ...bound]
  }

  const principals = createAgentPrincipals({
    ...deps,
    ...needs,
    agentRecords,
    isConnectorOn: connectors.isOn,
  })
  const runContexts = createRunContexts({
    agentRecords,
    settings,
    runContextCache,
    secretsOf,
    skillsBlock: needs.skillsBlock,
    principals,
  })

  async function credentialsConnected(agentId: string): Promise<void> {
    const agent = (await agentRecords.everyRow()).find((row) => row.id === agentId)
    if (!agent || !link.isConnected(agentId)) return
    if (agent.state === 'creating') {
      // A fork does this when it is filled: until then it may have credentials of its source that it must not keep.
      const current = await agentStore(db).byId(agentId)
      if (current?.state === 'creating' && current.forked_from) return
    }
    try {
      await credentials.connected(agent)
    } catch (error) {
      if (agent.state !== 'creating') throw error
      // Its files still change. Every agent repeats this at its next connection.
      log.debug({ err: error, agent_id: agentId }, 'the credentials of a new agent are not complete yet')
    }
  }

  /** Binds a workspace made from a repository as soon as its agent is connected. */
  function inspectRepository(agentId: string): void {
    const inspection = agentRecords.byId(agentId).then((agent) => agent && git.look(agent))
    inspection.catch((error: unknown) => {
      log.debug({ err: error, agent_id: agentId }, 'could not inspect a repository; will retry')
    })
  }

  function linkConnected(agentId: string): void {
    health.connected(agentId)
    disk.connected(agentId)
    history.restores.connected(agentId)
    inspectRepository(agentId)
    credentialsConnected(agentId).catch((error: unknown) => {
      log.warn({ err: error, agent_id: agentId }, 'could not update the credentials of an agent')
    })
    templateDelivery.connected(agentId).catch((error: unknown) => {
      log.warn({ err: error, agent_id: agentId }, 'could not check whether an agent has its template')
    })
    ssh.deliver(agentId).catch((error: unknown) => {
      log.debug(
        { err: error, agent_id: agentId },
        'could not deliver SSH keys; will retry when the agent reconnects',
      )
    })
  }

  const forks = createForks({
    ...deps,
    ask,
    bases,
    disk,
    egress,
    history,
    hooks,
    agentManagement,
    isWorking,
    linkConnected,
  })
  hooks.onForked(async (tx, { source, fork, by, withCredentials }) => {
    const { username } = by.user
    await avatars.copy(tx, source.id, fork.id)
    await egress.copyRules(tx, source.id, fork.id, username)
    const warnings: string[] = []
    const bound = await egress.boundCredentials.names(tx, source.id)
    if (withCredentials) await egress.boundCredentials.copy(tx, source.id, fork.id)
    else for (const name of bound) warnings.push(`The bound credential "${name}" was not copied.`)
    for (const name of await permissions.inherit(tx, { caller: by, source }, fork.id))
      warnings.push(`The fork may not call "${name}", to which you have no access.`)
    return { warnings }
  })

  let unsubscribe = () => {}

  return {
    agentRecords,
    agentAccess,
    bases,
    historyReader,
    principals,
    health,
    disk,
    history,
    templates,
    templateDelivery,
    lifecycle,
    engine,
    agentManagement,
    forks,
    git,
    gitTransfers,
    egress: egress.proxy,
    egressPolicy: egress,
    avatars,
    hooks,
    settings,
    workspace,
    terminals,
    ask,
    connectors,
    runContexts,
    linkConnected,
    routes: [
      // Literal paths under /api/agents come before paths with a name.
      ...healthRoutes(health, agentRecords),
      ...diskRoutes(disk, agentRecords),
      ...gitRoutes({ git, agentRecords, agentAccess, clock }),
      ...repositoryRoutes({ git, tokens: gitTokens, agentRecords }),
      ...permissionRoutes(permissions, agentRecords),
      ...folderRoutes(folders, agentRecords),
      ...managementRoutes({ agentManagement, agentRecords, idempotency: deps.idempotency }),
      ...lifecycleRoutes(lifecycle),
      ...ownKeyRoutes(ownKey, agentRecords),
      ...mcpConnectorRoutes(connectors, agentRecords),
      ...avatarRoutes(avatars, agentRecords),
      ...sharingRoutes(sharing, agentRecords),
      ...settingsRoutes({ settings, agentRecords, lifecycle }),
      ...sshAccessRoutes(ssh, agentRecords),
      ...workspaceRoutes(workspace, agentRecords),
      ...historyRoutes({ reader: historyReader, settings: historySettings }),
      ...restoreRoutes({ db, restores: history.restores, history: deps.history }),
      ...formerWorkspaceRoutes(formerWorkspaces),
      ...forkRoutes({ db, forks, agentRecords, idempotency: deps.idempotency }),
      ...credentialRoutes(credentials, agentRecords),
      ...egressRoutes({
        egress,
        agentRecords,
        setMode: async (agent, egress_mode) =>
          (await settings.change(agent, 'egress', { egress_mode })).agent,
      }),
      ...templateRoutes(templates),
    ],
    internalRoutes: [
      ...internalSettingsRoutes(agentRecords),
      ...internalEgressRoutes(egress),
      ...internalDiskRoutes(disk),
    ],
    socketRoutes: terminalSocketRoutes(terminals),
    loops: [
      ...health.loops,
      ...disk.loops,
      ...history.loops,
      ...bases.loops,
      ...lifecycle.loops,
      ...agentManagement.loops,
      ...settings.loops,
      ...egress.loops,
      ...ssh.loops,
      ...templateLoops,
      createGitLoop({ git, agentRecords, clock, log }),
    ],
    async open() {
      // Events come from the database in order, so this works even if the topic loses its message.
      unsubscribe = deps.events.on('*', (event) => {
        if (event.signal || !event.type.startsWith('agent.')) return
        agentRecords.markStale(event.agent_ids)
        // After `markStale`, so that the recheck does not read the old row.
        const [[id], [name]] = [event.agent_ids, event.agent_names]
        if (mayEndAccess(event) && id && name) deps.accessLost({ id, name })
      })
      await agentRecords.open()
      await ensureSystemAgent({ db, clock, agentRecords })
      await health.open()
      await egress.innerNetworks.open()
      lifecycle.open()
      terminals.open()
    },
    async close() {
      unsubscribe()
      await terminals.close()
      await forks.close()
      bases.close()
      await history.restores.close()
      await lifecycle.close()
      await egress.close()
      await health.close()
      await agentRecords.close()
    },
  }
}

/** Whether an open response to a caller without a share or a connector may have to end. */
function mayEndAccess({ type, fields }: StoredEvent): boolean {
  return type === 'agent.unshared' || (type === 'agent.settings_changed' && fields.setting === 'connector')
}
