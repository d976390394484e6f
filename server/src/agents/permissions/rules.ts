import type { AgentStatus } from '@roost/contracts/agents/agent'
import type { AgentPermissions, CallableAgent } from '@roost/contracts/agents/permissions'

type Shown = { id: string; name: string; status: AgentStatus; type: string }

/** What changes when the set of targets becomes `wanted`. */
export function edgeChange(
  before: ReadonlySet<string>,
  wanted: ReadonlySet<string>,
): { added: string[]; removed: string[] } {
  return {
    added: [...wanted].filter((id) => !before.has(id)).sort(),
    removed: [...before].filter((id) => !wanted.has(id)).sort(),
  }
}

/**
 * The row of the matrix that belongs to `source`. `reachable`: what the viewer reaches. Who counts as the
 * source's owner sees all that it may call (`seesAll`): its key shows them too.
 */
export function rowFor(
  source: Shown,
  facts: {
    all: readonly Shown[]
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
      .map((agent) => shown(agent, true)),
    available_agents: others
      .filter(({ id }) => reachable.has(id))
      .map((agent) => shown(agent, permitted.has(agent.id))),
  }
}

function shown({ name, status, type }: Shown, permitted: boolean): CallableAgent {
  return { name, status, type, permitted }
}
