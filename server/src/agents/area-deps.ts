/** What the area of agents needs from outside: ports, the areas to its left, and, as functions, those to its right. */
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
import type { Log } from '../ports/log.ts'
import type { HealthDeps } from './health/index.ts'
import type { LifecycleDeps, PortRange } from './lifecycle/index.ts'
import type { AgentManagementDeps } from './management/index.ts'
import type { McpConnectorDeps } from './mcp-connector/index.ts'
import type { OwnKeyDeps } from './own-key/index.ts'
import type { AgentsPlatformPolicy } from './platform-policy.ts'
import type { SettingsDeps } from './settings/index.ts'
import type { SharingDeps } from './sharing/index.ts'
import type { TerminalsDeps } from './terminal/index.ts'

export { type AgentsPlatformPolicy, agentsPlatformPolicy } from './platform-policy.ts'

/** What agents ask of the areas to their right; filled in `compose.ts`. */
export type AgentsLaterAreas = Pick<SharingDeps, 'lastUseBy'> &
  Pick<LifecycleDeps, 'raiseAlert' | 'clearAlert'> &
  Pick<HealthDeps, 'activityOf' | 'contextOf' | 'scheduleCounts' | 'renewLeases'> &
  Pick<SettingsDeps, 'slotsOf' | 'schedulesOf' | 'schedulesAbove'> &
  Pick<AgentManagementDeps, 'isBreakerOpen' | 'finishedExecutions'> & {
    /** What a run is told of the agent's skills; null: it has none. */
    skillsBlock(agentId: string): Promise<string | null>
    /** Waits up to 20 seconds for the skills of a container that was just started; null: it has none. */
    skillsAtStart: LifecycleDeps['deliverSkills']
    redeemTicket: TerminalsDeps['redeemTicket']
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
  keys: OwnKeyDeps['keys'] & McpConnectorDeps['keys'] & Pick<Keys, 'deleteAgentKeys'>
  changes: Pick<IdentityChanges, 'announce' | 'on'>
  sessions: TerminalsDeps['sessions']
  allowAddress: SharingDeps['allowAddress']
  /** Somebody may no longer reach this agent, in whatever process the share was removed; `name` is the name by now. */
  accessLost(agent: { id: string; name: string }): void
  /** Whose role the key of the system agent carries: an admin. Null before the platform is set up. */
  systemOwner(): Promise<{ id: string } | null>
  platform: AgentsPlatformPolicy
  needs: AgentsLaterAreas
  options: AgentsOptions
}
