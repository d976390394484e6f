import type { AgentPermissions, CallableAgent } from '@roost/contracts/agents/permissions'

export type Edge = { source: string; target: string }

/** Every other agent of the row, once, by name. */
export function rowOf(permissions: AgentPermissions): CallableAgent[] {
  const byName = new Map<string, CallableAgent>()
  for (const agent of [...permissions.available_agents, ...permissions.permitted_agents]) {
    if (agent.name !== permissions.source_agent) byName.set(agent.name, agent)
  }
  return [...byName.values()].sort((left, right) => left.name.localeCompare(right.name))
}

/** The row after a choice. */
export function withChoice(permissions: AgentPermissions, names: ReadonlySet<string>): AgentPermissions {
  const all = rowOf(permissions).map((agent) => ({ ...agent, permitted: names.has(agent.name) }))
  return {
    ...permissions,
    permitted_agents: all.filter(({ permitted }) => permitted),
    available_agents: all,
  }
}

/** The edges as a set. */
export function edgeSet(edges: readonly Edge[]): ReadonlySet<string> {
  return new Set(edges.map(({ source, target }) => edgeId(source, target)))
}

/** Agent names contain no spaces. */
export function edgeId(source: string, target: string): string {
  return `${source} ${target}`
}

/** The agents that may call the agent, by name. */
export function callersOf(edges: readonly Edge[], name: string): string[] {
  return edges
    .filter(({ source, target }) => target === name && source !== name)
    .map(({ source }) => source)
    .sort((left, right) => left.localeCompare(right))
}

/** The edges with one edge added or removed. */
export function withEdge(edges: readonly Edge[], edge: Edge, isThere: boolean): Edge[] {
  const others = edges.filter(({ source, target }) => source !== edge.source || target !== edge.target)
  return isThere ? [...others, edge] : others
}
