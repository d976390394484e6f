import { Fault } from '../../kit/fault.ts'
import type { Executor } from '../../ports/database/port.ts'
import { executionStore } from './store.ts'

/** Whoever names a run beside an agent names one of its own; null names none. Throws `execution_not_found`. */
export async function refuseForeignRun(
  executor: Executor,
  agentId: string,
  executionId: string | null,
): Promise<void> {
  if (executionId === null) return
  const row = await executionStore(executor).byId(executionId)
  if (row?.agent_id !== agentId) throw new Fault('execution_not_found')
}
