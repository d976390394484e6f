import type { AgentStatus } from '@roost/contracts/agents/agent'
import type { AgentPermissions, CallableAgent } from '@roost/contracts/agents/permissions'

type ListedAgent = { id: string; name: string; status: AgentStatus; type: string }

/** The edges to add and remove to reach the `desired` set of targets. */
export function edgeChange(
  before: ReadonlySet<string>,
  desired: ReadonlySet<string>,
): { added: string[]; removed: string[] } {
  return {
    added: [...desired].filter((id) => !before.has(id)).sort(),
    removed: [...before].filter((id) => !desired.has(id)).sort(),
  }
}

/**
 * The row of the matrix for `source`. `accessible` holds the agents that the viewer can access. With
 * `seesAll` (the owner, an admin or the agent's own key) the row also lists the others it may call.
 */
export function rowFor(
  source: ListedAgent,
  facts: {
    all: readonly ListedAgent[]
    permitted: ReadonlySet<string>
    reachable: ReadonlySet<string>
    seesAll: boolean
  },
): AgentPermissions {
  const { all, permitted, reachable, seesAll } = facts
  const others = all.filter(({ id }) => id !== source.id)
  return {
    source_agent: source.name,
    permitted_agents: others
      .filter(({ id }) => permitted.has(id) && (seesAll || reachable.has(id)))
      .map((agent) => callable(agent, true)),
    available_agents: others
      .filter(({ id }) => reachable.has(id))
      .map((agent) => callable(agent, permitted.has(agent.id))),
  }
}

function callable({ name, status, type }: ListedAgent, permitted: boolean): CallableAgent {
  return { name, status, type, permitted }
}
