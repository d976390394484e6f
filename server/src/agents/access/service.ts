import type { Caller, Relation, SignedIn } from '../../identity/access/index.ts'
import { Fault } from '../../kit/fault.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import { mayWrite, relationOf } from './rules.ts'

export type ResolvedAgent = { agent: Agent; relation: Relation }
/** `mayWrite`: whether the caller may change the workspace, where the endpoint admits the relation at all. */
export type AdmittedAgent = ResolvedAgent & { mayWrite: boolean }

export type AgentAccess = {
  /**
   * The agent and the caller's relation to it. Null both for an unknown name and without access, so callers
   * cannot tell them apart. Throws `agent_not_permitted` for an agent key without the matrix edge to another
   * agent of its owner.
   */
  resolveAgent(caller: Caller, agentName: string): Promise<AdmittedAgent | null>
  /** The relation to an agent found by other means than its name; null without access. */
  relationTo(caller: Caller, agent: Agent): Promise<Relation | null>
  /** All agents that the caller can access, newest first. */
  accessibleAgents(caller: Caller): Promise<ResolvedAgent[]>
  /** Ids of the agents that this agent may call. */
  permittedTargets(agentId: string): Promise<ReadonlySet<string>>
  /** Names of the accessible agents, for socket subscriptions; `['*']` for admins. */
  accessibleNames(caller: Caller): Promise<string[]>
}

export type AgentAccessDeps = {
  agentRecords: Pick<AgentRecords, 'all' | 'byName'>
  /** Ids of the agents that this agent may call, by the permissions matrix. */
  permittedTargets(agentId: string): Promise<ReadonlySet<string>>
  /** Whether the agent is offered to keys of scope `connector`. */
  isConnectorOn(agentId: string): Promise<boolean>
}

const none: ReadonlySet<string> = new Set()

export function createAgentAccess({
  agentRecords,
  permittedTargets,
  isConnectorOn,
}: AgentAccessDeps): AgentAccess {
  const permittedOf = async (caller: Caller) =>
    caller.kind === 'key' && caller.key.scope === 'agent' && caller.key.agent_id !== null
      ? permittedTargets(caller.key.agent_id)
      : none

  /** A connector key finds nothing while its agent's connector is off. */
  const isConnectorOff = async (caller: Caller) => {
    if (caller.kind !== 'key' || caller.key.scope !== 'connector') return false
    const { agent_id } = caller.key
    return agent_id === null || !(await isConnectorOn(agent_id))
  }

  async function accessibleAgents(caller: Caller): Promise<ResolvedAgent[]> {
    if (await isConnectorOff(caller)) return []
    const permitted = await permittedOf(caller)
    const accessible: ResolvedAgent[] = []
    for (const agent of await agentRecords.all()) {
      const relation = relationOf(caller, agent, permitted)
      if (relation) accessible.push({ agent, relation })
    }
    return accessible
  }

  async function relationTo(caller: Caller, agent: Agent): Promise<Relation | null> {
    return (await isConnectorOff(caller)) ? null : relationOf(caller, agent, await permittedOf(caller))
  }

  return {
    relationTo,
    async resolveAgent(caller, agentName) {
      const agent = await agentRecords.byName(agentName)
      if (!agent) return null
      const relation = await relationTo(caller, agent)
      if (relation) return { agent, relation, mayWrite: mayWrite(caller, agent, relation) }
      if (caller.kind === 'key' && caller.key.scope === 'agent' && agent.owner_id === caller.user.id) {
        throw new Fault('agent_not_permitted')
      }
      return null
    },
    accessibleAgents,
    permittedTargets,
    async accessibleNames(caller) {
      const isAdmin =
        caller.kind !== 'anonymous' &&
        caller.user.role === 'admin' &&
        !(caller.kind === 'key' && (caller.key.scope === 'agent' || caller.key.scope === 'connector'))
      if (isAdmin) return ['*']
      return (await accessibleAgents(caller)).map(({ agent }) => agent.name)
    },
  }
}

/**
 * Names by id of the agents a caller can access, optionally only the one named `only`. For endpoints that
 * list something over all of a caller's agents.
 */
export async function accessibleAgentNames(
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>,
  caller: SignedIn,
  only?: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const accessible = await agentAccess.accessibleAgents(caller)
  const selected = only === undefined ? accessible : accessible.filter(({ agent }) => agent.name === only)
  return new Map(selected.map(({ agent }) => [agent.id, agent.name]))
}
