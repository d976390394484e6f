import { Fault } from '../../kit/fault.ts'
import type { Executor } from '../../ports/database/port.ts'
import { executionStore } from './store.ts'

/**
 * Checks that a run named together with an agent belongs to it; null passes. Throws `execution_not_found`.
 */
export async function refuseForeignRun(
  executor: Executor,
  agentId: string,
  executionId: string | null,
): Promise<void> {
  if (executionId === null) return
  const row = await executionStore(executor).byId(executionId)
  if (row?.agent_id !== agentId) throw new Fault('execution_not_found')
}
