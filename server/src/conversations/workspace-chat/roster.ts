import type { RosterAgent } from '@roost/contracts/conversations/workspace'
import { isSharedWith } from '../../agents/access/index.ts'
import { type Agent, type AgentRecords, agentStore } from '../../agents/records/index.ts'
import type { Users } from '../../identity/users/index.ts'
import { Fault } from '../../kit/fault.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Executor } from '../../ports/database/port.ts'
import type { Principal } from './principal.ts'
import { workspaceSessionStore } from './session-store.ts'
import type { Starters } from './starters.ts'

export type RosterDeps = {
  db: Db
  agentRecords: Pick<AgentRecords, 'all' | 'byName' | 'byId'>
  users: Pick<Users, 'find' | 'holderOf'>
  link: Pick<AgentLink, 'isConnected'>
  starters: Starters
  /** The agent's own description; null when it has none. */
  descriptionOf(agent: Pick<Agent, 'id'>): Promise<string | null>
  /** Whether agents can be called. */
  isVoiceOn(): boolean
}

export type Roster = {
  /** The agents that are shared with the address or owned by the account. */
  agentsOf(principal: Pick<Principal, 'email' | 'owns'>): Promise<Agent[]>
  /** Throws `agent_not_found` for every other agent. */
  find(principal: Pick<Principal, 'email' | 'owns'>, name: string): Promise<Agent>
  /** Whether the agent is still on the roster. */
  has(principal: Pick<Principal, 'email' | 'owns'>, agentId: string): Promise<boolean>
  /** Whether this address may receive deliveries of the agent; its owner may, too. */
  canReceive(on: Executor, agentId: string, email: string): Promise<boolean>
  view(principal: Principal, agent: Agent, unread: number): Promise<RosterAgent>
}

export function createRoster(deps: RosterDeps): Roster {
  const { db, agentRecords, users, link, starters, descriptionOf, isVoiceOn } = deps

  const isListed = (
    principal: Pick<Principal, 'email' | 'owns'>,
    agent: Agent,
    blocked: ReadonlySet<string>,
  ) => {
    if (principal.owns !== null && agent.owner_id === principal.owns) return true
    const { email } = principal
    return email !== null && isSharedWith(agent, email) && !blocked.has(agent.id)
  }
  const blockedFrom = async ({ email }: Pick<Principal, 'email'>) =>
    email === null ? new Set<string>() : workspaceSessionStore(db).blockedFrom(email)

  return {
    async agentsOf(principal) {
      const blocked = await blockedFrom(principal)
      return (await agentRecords.all()).filter((agent) => isListed(principal, agent, blocked))
    },
    async find(principal, name) {
      const agent = await agentRecords.byName(name)
      if (agent && isListed(principal, agent, await blockedFrom(principal))) return agent
      throw new Fault('agent_not_found', `There is no agent named "${name.slice(0, 80)}".`)
    },
    async has(principal, agentId) {
      const agent = await agentRecords.byId(agentId)
      return agent !== null && isListed(principal, agent, await blockedFrom(principal))
    },
    async canReceive(on, agentId, email) {
      const agent = await agentStore(on).byId(agentId)
      if (!agent) return false
      const account = await users.holderOf(on, email)
      if (account?.suspended_at) return false
      if (account?.email === email && account.id === agent.owner_id) return true
      if (!isSharedWith(agent, email)) return false
      return !(await workspaceSessionStore(on).blockedFrom(email)).has(agentId)
    },
    async view(principal, agent, unread) {
      const owned = principal.owns !== null && agent.owner_id === principal.owns
      const state = stateOf(agent)
      const [owner, description, playbooks] = await Promise.all([
        users.find(agent.owner_id),
        descriptionOf(agent),
        state === 'ready' ? starters(agent) : [],
      ])
      const share = agent.shares.find(({ email }) => email === principal.email)
      return {
        name: agent.name,
        label: agent.label,
        owner: owner?.email ?? owner?.username ?? null,
        avatar_url: `/api/agents/${encodeURIComponent(agent.name)}/avatar`,
        shared_at: share?.created_at ?? null,
        owned,
        description,
        state,
        playbooks,
        voice_available: state === 'ready' && isVoiceOn(),
        can_manage_canvases: owned,
        unread,
      }
    },
  }

  function stateOf(agent: Agent): RosterAgent['state'] {
    if (agent.status !== 'running') return 'stopped'
    return link.isConnected(agent.id) ? 'ready' : 'unreachable'
  }
}
