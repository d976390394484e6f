import type { ExecutionSummary } from '@roost/contracts/runs/executions'

/**
 * The address of a run; `list` is the filter of its list, from `listParam`. For a deleted agent it has no agent name, because another agent may have that name
 * now.
 */
export function pageOf({ agent_name: name, id, agent_deleted }: ExecutionSummary, list?: string) {
  const search = list === undefined ? {} : { list }
  return agent_deleted
    ? ({ to: '/executions/$id', params: { id }, search } as const)
    : ({ to: '/agents/$name/executions/$id', params: { name, id }, search } as const)
}

/** The same address as text. */
export function addressOf({ agent_name, id, agent_deleted }: ExecutionSummary, list?: string): string {
  const search = list === undefined ? '' : `?list=${encodeURIComponent(list)}`
  const path = agent_deleted ? '' : `/agents/${encodeURIComponent(agent_name)}`
  return `${path}/executions/${encodeURIComponent(id)}${search}`
}

/** The address of a comparison, older run first; null unless these are two runs of existing agents. */
export function comparisonOf(runs: readonly ExecutionSummary[]) {
  const [first, second] = runs.toSorted((one, other) => one.created_at.localeCompare(other.created_at))
  if (!first || !second || runs.length !== 2 || first.agent_deleted || second.agent_deleted) return null
  return {
    to: '/agents/$name/executions/$id/compare/$other',
    params: { name: first.agent_name, id: first.id, other: second.id },
    search: second.agent_name === first.agent_name ? {} : { of: second.agent_name },
  } as const
}
