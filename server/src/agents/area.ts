import type { Resources } from '@roost/contracts/agents/agent'
import type { AgentSettings } from '@roost/contracts/link/messages'
import type { Loop } from '../background/loops.ts'
import type { Idempotency } from '../foundation/idempotency/index.ts'
import type { Leases } from '../foundation/leases/index.ts'
import type { Outbox } from '../foundation/outbox/index.ts'
import type { Vault } from '../foundation/vault/index.ts'
import type { Route } from '../http/route.ts'
import type { IdentityChanges } from '../identity/access/index.ts'
import type { Keys } from '../identity/keys/index.ts'
import type { Users } from '../identity/users/index.ts'
import type { Locate } from '../kit/addresses.ts'
import type { Clock } from '../kit/clock.ts'
import type { Secret } from '../kit/secret.ts'
import type { AgentImages } from '../ports/agent-images/port.ts'
import type { AgentLink } from '../ports/agent-link/port.ts'
import type { AgentsNetwork, Containers } from '../ports/containers/port.ts'
import type { Db, Tx } from '../ports/database/port.ts'
import type { Ephemeral } from '../ports/ephemeral/port.ts'
import type { Git } from '../ports/git/port.ts'
import type { GitHost } from '../ports/git-host/port.ts'
import type { Log } from '../ports/log.ts'
import { avatarRoutes, createAvatars } from './avatars/index.ts'
import { type AskAgent, createAskAgent } from './calls/index.ts'
import { type ConnectorDeps, type Connectors, connectorRoutes, createConnectors } from './connector/index.ts'
import {
  type Credentials,
  type CredentialsDeps,
  createCredentials,
  credentialRoutes,
} from './credentials/index.ts'
import { type Agent, agentStore, createDirectory, type Directory } from './directory/index.ts'
import { createEgress, type EgressProxy, egressRoutes } from './egress/index.ts'
import { createFolders, createFoldersFor, folderRoutes } from './folders/index.ts'
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
import { createHealth, type Health, type HealthDeps, healthRoutes } from './health/index.ts'
import {
  createLifecycle,
  type Lifecycle,
  type LifecycleDeps,
  lifecycleRoutes,
  networkFor,
  type PortRange,
} from './lifecycle/index.ts'
import { createOwnKey, type OwnKeyDeps, ownKeyRoutes } from './own-key/index.ts'
import { createEdges, createPermissions, permissionRoutes } from './permissions/index.ts'
import { createReach, type Reach } from './reach/index.ts'
import {
  createRegistry,
  createRegistryHooks,
  ensureSystemAgent,
  type Registry,
  type RegistryDeps,
  type RegistryHooks,
  registryRoutes,
} from './registry/index.ts'
import { createRemembered } from './remembered/index.ts'
import {
  createSettings,
  createSsh,
  internalSettingsRoutes,
  type Settings,
  type SettingsDeps,
  type SshDeps,
  settingsRoutes,
} from './settings/index.ts'
import { createSharing, type SharingDeps, sharingRoutes } from './sharing/index.ts'
import { openTemplates, type Templates, templateRoutes } from './templates/index.ts'
import { createWorkspace, type Workspace, workspaceRoutes } from './workspace/index.ts'

/** What agents ask of the areas to their right; filled in `compose.ts`. */
export type AgentsNeeds = Pick<SharingDeps, 'lastUseBy'> &
  Pick<LifecycleDeps, 'raiseAlert' | 'clearAlert'> &
  Pick<HealthDeps, 'activityOf' | 'contextOf' | 'scheduleCounts' | 'renewLeases'> &
  Pick<SettingsDeps, 'slotsOf' | 'schedulesOf' | 'schedulesAbove'> &
  Pick<RegistryDeps, 'isBreakerOpen' | 'finishedExecutions'> & {
    /** What a run is told of the agent's skills; null: it has none. */
    skillsBlock(agentId: string): Promise<string | null>
    /** Waits up to 20 seconds for the skills of a container that was just started; null: it has none. */
    skillsAtStart: LifecycleDeps['deliverSkills']
  }

/** Settings of the platform that decide about agents. */
export type AgentsPlatform = Pick<SshDeps, 'sshEnabled' | 'limitSsh'> &
  Pick<ConnectorDeps, 'mcpUrl' | 'limitKeys'> &
  Pick<OwnKeyDeps, 'limitVerify'> &
  Pick<CredentialsDeps, 'limitCredentials'> &
  Pick<SettingsDeps, 'parallelCeiling' | 'platformModel'> & {
    defaultResources(): Promise<Resources>
    agentQuota(): Promise<number>
    gitRepositories(): Promise<readonly string[]>
    /** The platform's own for the git host; null for none. */
    platformGitToken(): Secret | null
    /** A person's own; null for none. */
    ownGitTokenOf(userId: string): Promise<Secret | null>
    /** A person's own, else the platform's. */
    gitTokenOf(userId: string): Promise<Secret | null>
  }

export type AgentsOptions = {
  internalPort: number
  tmpBytes: number
  sshBind: string
  containerPrefix: string
  sshPorts: PortRange
  /** Under which this machine is reached over SSH. */
  sshHost: string
  chatIdleSeconds: number
  stallSeconds: number
  /** Absolute; one folder for each bundled template. */
  templatesFolder: string
  /** Absolute; contents of templates from git are unpacked here. */
  templateContentFolder: string
  /** Of the one git host, without a slash at its end. */
  gitBaseUrl: string
  /** Of `/git` on the internal listener, as a container reaches it. */
  agentsGitUrl(): string
}

export type AgentsAreaDeps = {
  db: Db
  clock: Clock
  log: Log
  ephemeral: Ephemeral
  containers: Containers
  images: AgentImages
  git: Git
  gitHost: GitHost
  /** Where connections to the outside may lead. */
  outward: { gitHost: Locate; agents: Locate }
  /** Makes the network without a way out, and has the platform heard there. */
  openClosed(): Promise<AgentsNetwork>
  link: AgentLink
  vault: Vault
  events: Pick<Outbox, 'append' | 'on'>
  leases: Leases
  idempotency: Pick<Idempotency, 'once' | 'open'>
  users: Pick<Users, 'find' | 'findLogin'>
  keys: OwnKeyDeps['keys'] & ConnectorDeps['keys'] & Pick<Keys, 'deleteAgentKeys'>
  changes: Pick<IdentityChanges, 'announce' | 'on'>
  allowAddress: SharingDeps['allowAddress']
  /** Somebody may no longer reach this agent, in whatever process the share was removed; `name` is the name by now. */
  accessLost(agent: { id: string; name: string }): void
  /** Whose role the key of the system agent carries: an admin. Null before the platform is set up. */
  systemOwner(): Promise<{ id: string } | null>
  platform: AgentsPlatform
  needs: AgentsNeeds
  options: AgentsOptions
}

export type AgentsArea = {
  directory: Directory
  reach: Reach
  health: Health
  templates: Templates
  lifecycle: Lifecycle
  registry: Registry
  git: AgentGit
  gitTransfers: Transfers
  /** The agents' way out, on the internal listener. */
  egress: EgressProxy
  hooks: RegistryHooks
  settings: Settings
  workspace: Workspace
  ask: AskAgent
  connectors: Connectors
  facts: AgentFacts
  /** An agent has greeted: it gets what it may have missed. */
  linkConnected(agentId: string): void
  routes: Route[]
  /** For processes of the platform on this machine. */
  internalRoutes: Route[]
  loops: Loop[]
  open(): Promise<void>
  close(): Promise<void>
}

/** What runs need to know of an agent. */
export type AgentFacts = {
  find(agentId: string): Promise<{
    id: string
    name: string
    status: 'running' | 'stopped' | 'exited'
    execution_timeout_seconds: number
    effective_slots: number
    model: string | null
    custom_instructions: string | null
    skills_block: string | null
    settings: AgentSettings
  } | null>
  isToldToStop(tx: Tx, agentId: string): Promise<boolean>
  /** Names of the agents that it may call. */
  callable(agentId: string): Promise<string[]>
  /** Texts that must not appear in a transcript. */
  secrets(agentId: string): Promise<readonly string[]>
}

/** Wires the features of the area in their order: directory, permissions, reach, sharing, health, templates, lifecycle, registry … */
export function createAgentsArea(deps: AgentsAreaDeps): AgentsArea {
  const { db, clock, log, link, platform, needs, options } = deps
  const directory = createDirectory(deps)
  const edges = createEdges(deps)
  const connectors = createConnectors({ ...deps, ...platform, directory })
  const reach = createReach({
    directory,
    permittedTargets: edges.targetsOf,
    isConnectorOn: connectors.isOn,
  })
  const permissions = createPermissions({ ...deps, directory, reach, edges })
  const sharing = createSharing({ ...deps, ...needs, directory, edges })
  const ask = createAskAgent({ link, clock })
  const health = createHealth({ ...deps, ...needs, directory, reach })
  const { templates, loops: templateLoops } = openTemplates({
    ...deps,
    ...platform,
    agents: () => directory.everyRow(),
  })
  const egress = createEgress({
    ...deps,
    ...platform,
    directory,
    locate: deps.outward.agents,
    mustMove: ({ applied, egress_mode }) =>
      applied !== null && (applied.network ?? 'open') !== networkFor(egress_mode),
    tell: (agent) => settings.tell(agent),
    async deliver(agent) {
      if (agent.status !== 'running' || !link.isConnected(agent.id)) return
      await credentials.settleEnv(agent).catch((error: unknown) => {
        log.warn({ err: error, agent: agent.name }, 'placeholders were not put into a workspace; tried again')
      })
    },
  })
  const credentials: Credentials = createCredentials({
    ...deps,
    ...platform,
    ask,
    templates,
    keeping: egress.keeping,
  })
  const lifecycle = createLifecycle({
    injectCredentials: credentials.atStart,
    deliverSkills: needs.skillsAtStart,
    ...deps,
    ...needs,
    directory,
    templateFolder: templates.madeFrom,
    gitFactsFor: (agent) => git.factsFor(agent),
    foldersFor: createFoldersFor({ db, edges }),
    abandoned: deps.keys.deleteAgentKeys,
  })
  const hooks = createRegistryHooks()
  const registry = createRegistry({
    ...deps,
    ...platform,
    ...needs,
    directory,
    edges,
    reach,
    health,
    templates,
    lifecycle,
    hooks,
    secretsOf: (agentId) => secretsOf(agentId),
  })
  const addressOf = (repository: string) => `${options.gitBaseUrl}/${repository}`
  const gitTokens = createAgentGitTokens({ ...deps, ...platform, host: deps.gitHost })
  const gitTransfers = createTransfers({
    ...deps,
    gitUrl: options.agentsGitUrl,
    addressOf,
    locate: deps.outward.gitHost,
    tokenOf: async (agentId) => {
      // Also of one that is being made: its container is told what the token may do.
      const agent = (await directory.everyRow()).find((row) => row.id === agentId)
      return agent ? gitTokens.of(agent) : null
    },
  })
  const git: AgentGit = createAgentGit({
    ...deps,
    ...needs,
    directory,
    host: deps.gitHost,
    tokens: gitTokens,
    transfers: gitTransfers,
    addressOf,
    secretsOf: (agentId) => secretsOf(agentId),
    isWorking: async (agentId) => (await needs.contextOf([agentId])).get(agentId)?.busy ?? false,
  })
  hooks.onCreated(async (tx, { agent }) => {
    await git.bindNew(tx, agent)
    return {}
  })
  hooks.onCreated(async (tx, { agent, credentialSetup }) => ({
    warnings: await egress.keeping.declare(tx, agent.id, credentialSetup),
  }))
  const settings = createSettings({
    ...deps,
    ...platform,
    ...needs,
    ...options,
    directory,
    wayOut: egress.wayOut,
  })
  const ssh = createSsh({ db, clock, log, link, ask, ...platform, sshHost: options.sshHost })
  hooks.onDeleting((tx, { agent }) => ssh.forget(tx, agent.id))
  hooks.onDeleting((tx, { agent }) => credentials.secrets.forget(tx, agent.id))
  const folders = createFolders({ ...deps, directory, edges, reach })
  const workspace = createWorkspace({ ask })
  const ownKey = createOwnKey({ ...deps, ...platform, lifecycle, ask })

  const remembered = createRemembered({ ...deps, reach })
  async function secretsOf(agentId: string): Promise<readonly string[]> {
    const [key, known, kept] = await Promise.all([
      remembered.keyOf(agentId),
      credentials.secrets.of(agentId),
      egress.secrets(agentId),
    ])
    return [...(key === null ? [] : [key]), ...known, ...kept]
  }

  const facts: AgentFacts = {
    async find(agentId) {
      // Its program may dial in before its creation is written down.
      const agent = (await directory.everyRow()).find((row) => row.id === agentId)
      if (!agent) return null
      const settingsNow = await settings.forLink(agent)
      const { id, name, execution_timeout_seconds, custom_instructions } = agent
      return {
        id,
        name,
        status: workingStatus(agent),
        execution_timeout_seconds,
        custom_instructions,
        effective_slots: settingsNow.parallel_limit,
        model: settingsNow.model,
        skills_block: await needs.skillsBlock(agentId),
        settings: settingsNow,
      }
    },
    isToldToStop: (tx, agentId) => agentStore(tx).isToldToStop(agentId),
    async callable(agentId) {
      const targets = await remembered.targetsOf(agentId)
      if (targets.size === 0) return []
      return (await directory.all()).filter(({ id }) => targets.has(id)).map(({ name }) => name)
    },
    secrets: secretsOf,
  }

  async function credentialsConnected(agentId: string): Promise<void> {
    const agent = (await directory.everyRow()).find((row) => row.id === agentId)
    if (agent && link.isConnected(agentId)) await credentials.connected(agent)
  }

  /** A workspace that was made from a repository becomes one as soon as it can be asked. */
  function tendGit(agentId: string): void {
    const tended = directory.byId(agentId).then((agent) => agent && git.look(agent))
    tended.catch((error: unknown) => {
      log.debug({ err: error, agent_id: agentId }, 'a repository could not be looked at; it is tried again')
    })
  }

  let stopHearing = () => {}

  return {
    directory,
    reach,
    health,
    templates,
    lifecycle,
    registry,
    git,
    gitTransfers,
    egress: egress.proxy,
    hooks,
    settings,
    workspace,
    ask,
    connectors,
    facts,
    linkConnected(agentId) {
      health.greeted(agentId)
      tendGit(agentId)
      credentialsConnected(agentId).catch((error: unknown) => {
        log.warn({ err: error, agent_id: agentId }, 'the credentials of an agent could not be looked at')
      })
      ssh.deliver(agentId).catch((error: unknown) => {
        log.debug({ err: error, agent_id: agentId }, 'an agent did not take its SSH keys; it greets again')
      })
    },
    routes: [
      // Fixed words under /api/agents come before names.
      ...healthRoutes(health, directory),
      ...gitRoutes({ git, directory, reach, clock }),
      ...repositoryRoutes({ git, tokens: gitTokens, directory }),
      ...permissionRoutes(permissions, directory),
      ...folderRoutes(folders, directory),
      ...registryRoutes({ registry, directory, idempotency: deps.idempotency }),
      ...lifecycleRoutes(lifecycle),
      ...ownKeyRoutes(ownKey, directory),
      ...connectorRoutes(connectors, directory),
      ...avatarRoutes(createAvatars(deps), directory),
      ...sharingRoutes(sharing, directory),
      ...settingsRoutes({ settings, ssh, directory, lifecycle }),
      ...workspaceRoutes(workspace, directory),
      ...credentialRoutes(credentials, directory),
      ...egressRoutes({
        egress,
        directory,
        setMode: async (agent, egress_mode) =>
          (await settings.change(agent, 'egress', { egress_mode })).agent,
      }),
      ...templateRoutes(templates),
    ],
    internalRoutes: internalSettingsRoutes(directory),
    loops: [
      ...health.loops,
      ...lifecycle.loops,
      ...registry.loops,
      ...settings.loops,
      ...egress.loops,
      ...ssh.loops,
      ...templateLoops,
      createGitLoop({ git, directory, clock, log }),
    ],
    async open() {
      // Through the database, and so before any event behind it: the topic may lose its message.
      stopHearing = deps.events.on('*', (event) => {
        if (event.signal || !event.type.startsWith('agent.')) return
        directory.heard(event.agent_ids)
        // After that: who is asked for now is not answered from what was.
        const [[id], [name]] = [event.agent_ids, event.agent_names]
        if (event.type === 'agent.unshared' && id && name) deps.accessLost({ id, name })
      })
      await directory.open()
      await ensureSystemAgent({ db, clock, directory })
      await health.open()
      lifecycle.open()
    },
    async close() {
      stopHearing()
      await lifecycle.close()
      await egress.close()
      await health.close()
      await directory.close()
    },
  }
}

/** An agent that is being stopped takes on nothing new, and one that is being started does already. */
function workingStatus({ desired, status }: Agent): 'running' | 'stopped' | 'exited' {
  if (desired === 'stopped') return 'stopped'
  return status === 'exited' ? 'exited' : 'running'
}
