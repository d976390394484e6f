import type { FieldsOf } from '@roost/contracts/kit/event'
import type { loopCompleted, loopRunCompleted } from '@roost/contracts/runs/loops'
import type { NewEvent } from '../../foundation/outbox/index.ts'
import { dollars } from '../executions/index.ts'
import { type End, failedRuns, runStatusOf } from './rules.ts'
import type { LoopRow, RunRow } from './store.ts'

/** Of a run that has ended and was counted. */
export function runCompletedEvent(loop: LoopRow, run: RunRow, agentName: string): NewEvent {
  const status = runStatusOf(run.status)
  const fields: FieldsOf<typeof loopRunCompleted> = {
    loop_id: loop.id,
    run_number: loop.runs_completed,
    execution_id: run.id,
    // It has ended: a row that says otherwise is gone from the record.
    status: status === 'running' ? 'cancelled' : status,
    cost: dollars(run.cost_micros),
    cost_estimated: run.cost_estimated === 1,
    duration_ms: run.duration_ms,
  }
  return { type: 'loop.run_completed', agent_names: [agentName], agent_ids: [loop.agent_id], fields }
}

export function completedEvent(
  loop: LoopRow,
  { runs, end, agentName }: { runs: readonly RunRow[]; end: End; agentName: string },
): NewEvent {
  const fields: FieldsOf<typeof loopCompleted> = {
    loop_id: loop.id,
    status: end.status,
    stop_reason: end.stop_reason,
    runs_completed: loop.runs_completed,
    failed_runs: failedRuns(runs),
  }
  return { type: 'loop.completed', agent_names: [agentName], agent_ids: [loop.agent_id], fields }
}
