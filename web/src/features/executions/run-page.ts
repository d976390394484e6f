import type { ExecutionSummary } from '@roost/contracts/runs/executions'

/** The page of a run. One of a deleted agent has an address without the name, which another agent may have by now. */
export function pageOf({ agent_name: name, id, agent_deleted }: ExecutionSummary) {
  return agent_deleted
    ? ({ to: '/executions/$id', params: { id } } as const)
    : ({ to: '/agents/$name/executions/$id', params: { name, id } } as const)
}
