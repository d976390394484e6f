/** Dependencies of the agents area: ports, the areas to its left, and functions of the areas to its right. */
import type { Alerts } from '../foundation/alerts/index.ts'
import type { Idempotency } from '../foundation/idempotency/index.ts'
import type { Leases } from '../foundation/leases/index.ts'
import type { Outbox } from '../foundation/outbox/index.ts'
import type { Vault } from '../foundation/vault/index.ts'
import type { IdentityChanges } from '../identity/access/index.ts'
import type { Keys } from '../identity/keys/index.ts'
import type { Users } from '../identity/users/index.ts'
import type { Locate } from '../kit/addresses.ts'
import type { Clock } from '../kit/clock.ts'
import type { AgentImages } from '../ports/agent-images/port.ts'
import type { AgentLink } from '../ports/agent-link/port.ts'
import type { AgentsNetwork, Containers } from '../ports/containers/port.ts'
import type { Db } from '../ports/database/port.ts'
import type { Ephemeral } from '../ports/ephemeral/port.ts'
import type { Git } from '../ports/git/port.ts'
import type { GitHost } from '../ports/git-host/port.ts'
import type { Host } from '../ports/host/port.ts'
import type { Log } from '../ports/log.ts'
import type { WorkspaceHistory } from '../ports/workspace-history/port.ts'
import type { HealthDeps } from './health/index.ts'
import type { AgentHistoryDeps, RestoresDeps } from './history/index.ts'
import type { LifecycleDeps, PortRange } from './lifecycle/index.ts'
import type { AgentManagementDeps } from './management/index.ts'
import type { McpConnectorDeps } from './mcp-connector/index.ts'
import type { OwnKeyDeps } from './own-key/index.ts'
import type { AgentsPlatformPolicy } from './platform-policy.ts'
import type { SettingsDeps } from './settings/index.ts'
import type { SharingDeps } from './sharing/index.ts'
import type { TerminalsDeps } from './terminal/index.ts'

export { type AgentsPlatformPolicy, agentsPlatformPolicy } from './platform-policy.ts'

/** Functions that areas to the right provide; `compose.ts` fills them. */
export type AgentsLaterAreas = Pick<SharingDeps, 'lastUseBy'> &
  Pick<HealthDeps, 'activityOf' | 'contextOf' | 'scheduleCounts' | 'renewLeases'> &
  Pick<SettingsDeps, 'slotsOf' | 'schedulesOf' | 'schedulesAbove'> &
  Pick<RestoresDeps, 'lockRuns' | 'stopRuns'> &
  Pick<AgentManagementDeps, 'isBreakerOpen' | 'finishedExecutions'> & {
    /** The part of a run's prompt about the agent's skills; null without skills. */
    skillsBlock(agentId: string): Promise<string | null>
    /** Waits up to 20 seconds for the skills of a container that just started; null without skills. */
    skillsAtStart: LifecycleDeps['deliverSkills']
    redeemTicket: TerminalsDeps['redeemTicket']
    runningSince: LifecycleDeps['runningSince']
  }

export type AgentsOptions = {
  internalPort: number
  tmpBytes: number
  sshBind: string
  containerPrefix: string
  /** `ROOST_CONTAINER_RUNTIME`; null when it is not set. */
  containerRuntime: string | null
  sshPorts: PortRange
  lostNodeSeconds: number
  evictionWaitSeconds: number
  /** Host name that SSH clients use for this machine. */
  sshHost: string
  chatIdleSeconds: number
  stallSeconds: number
  diskSeconds: number
  historyQuotas: AgentHistoryDeps['quotas']
  /** `ROOST_FORK_BASES_BYTES`; 0: no bases without forks. */
  forkBasesBytes: number
  /** Absolute path, with one folder for each bundled template. */
  templatesFolder: string
  /** Absolute path; the contents of git templates are unpacked here. */
  templateContentFolder: string
  /** URL of the only supported git host, without a trailing slash. */
  gitBaseUrl: string
  /** URL of `/git` on the internal listener, as containers see it. */
  agentsGitUrl(): string
}

export type AgentsAreaDeps = {
  db: Db
  clock: Clock
  log: Log
  meters: AgentHistoryDeps['meters']
  ephemeral: Ephemeral
  containers: Containers
  /** The machine of this process. */
  host: Pick<Host, 'read'>
  usedEngines: LifecycleDeps['usedEngines']
  isOnlyMachine: LifecycleDeps['isOnlyMachine']
  images: AgentImages
  git: Git
  history: WorkspaceHistory
  historySettings: AgentHistoryDeps['settings']
  gitHost: GitHost
  /** Address filters for outbound connections. */
  outward: { gitHost: Locate; agents: Locate }
  /** Creates the network without outbound access and makes the platform reachable from it. */
  openClosedNetwork(): Promise<AgentsNetwork>
  /** Where agents reach the platform, with this process first. */
  platformAddresses(): readonly string[]
  link: AgentLink
  vault: Vault
  events: Pick<Outbox, 'append' | 'on'>
  leases: Leases
  alerts: Alerts
  idempotency: Pick<Idempotency, 'once' | 'open'>
  users: Pick<Users, 'find' | 'findLogin'>
  keys: OwnKeyDeps['keys'] & McpConnectorDeps['keys'] & Pick<Keys, 'callerOf' | 'deleteAgentKeys'>
  changes: Pick<IdentityChanges, 'announce' | 'on'>
  sessions: TerminalsDeps['sessions']
  allowAddress: SharingDeps['allowAddress']
  /** A share of this agent was removed, in any process; `name` is the current name. */
  accessLost(agent: { id: string; name: string }): void
  /** The admin whose role the system agent's key carries; null before the platform is set up. */
  systemOwner(): Promise<{ id: string } | null>
  platform: AgentsPlatformPolicy
  needs: AgentsLaterAreas
  options: AgentsOptions
}
