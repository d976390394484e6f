import type { FanOut, FanOutResult } from '@roost/contracts/runs/fan-out'
import { dollars } from '../executions/index.ts'
import { countsOf, type State, stateOf, taskStatus } from './rules.ts'
import type { FanOutRow, TaskRow } from './store.ts'

/** The fan-out as it is told. Its runs hold no private conversation: who may see it may read it. */
export function viewOf(fanOut: FanOutRow, tasks: readonly TaskRow[]): FanOut & { status: State } {
  const counts = countsOf(tasks)
  return {
    fan_out_id: fanOut.id,
    agent_name: tasks[0]?.agent_name ?? '',
    status: stateOf(counts),
    ...counts,
    created_at: fanOut.created_at,
    results: tasks.map(resultOf),
  }
}

function resultOf(task: TaskRow): FanOutResult {
  const { response, error, error_code, context_used, duration_ms, model_used, started_at, completed_at } =
    task
  return {
    id: task.fan_out_task_id ?? '',
    execution_id: task.id,
    status: taskStatus(task.status),
    response,
    error,
    error_code,
    cost: dollars(task.cost_micros),
    cost_estimated: task.cost_estimated === 1,
    context_used,
    duration_ms,
    model_used,
    started_at,
    completed_at,
  }
}
