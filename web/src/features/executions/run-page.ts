import type { ExecutionSummary } from '@roost/contracts/runs/executions'

/**
 * The address of a run. For a deleted agent it has no agent name, because another agent may have that name
 * now.
 */
export function pageOf({ agent_name: name, id, agent_deleted }: ExecutionSummary) {
  return agent_deleted
    ? ({ to: '/executions/$id', params: { id } } as const)
    : ({ to: '/agents/$name/executions/$id', params: { name, id } } as const)
}

/** The same address as text. */
export function addressOf({ agent_name, id, agent_deleted }: ExecutionSummary): string {
  if (agent_deleted) return `/executions/${encodeURIComponent(id)}`
  return `/agents/${encodeURIComponent(agent_name)}/executions/${encodeURIComponent(id)}`
}
