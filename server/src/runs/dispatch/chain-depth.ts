import { Fault } from '../../kit/fault.ts'
import type { Executor, Tx } from '../../ports/database/port.ts'
import { executionStore, queueStore } from '../executions/index.ts'
import type { RunRequest, Source } from './request.ts'
import { maxChainDepth } from './rules.ts'

/**
 * Depth of the run that calls: the run of the caller's key, else the agent's deepest running run, because its own key
 * names none and a cycle must not hide behind a shallow run. 0 for people.
 */
export async function callerDepth(db: Executor, { executionId, agent }: Source): Promise<number> {
  const named = executionId === undefined ? null : await executionStore(db).chainDepth(executionId)
  if (named !== null) return named
  return agent ? queueStore(db).deepestRunning(agent.id) : 0
}

/** Number of calls from a person to this run. Throws `inter_agent_depth_exceeded`. */
export async function chainDepth(tx: Tx, { source, chainDepth: followed }: RunRequest): Promise<number> {
  const isCall = source.agent !== null || source.executionId !== undefined
  const depth = followed ?? (isCall ? 1 + (await callerDepth(tx, source)) : 0)
  if (depth > maxChainDepth) throw new Fault('inter_agent_depth_exceeded')
  return depth
}
