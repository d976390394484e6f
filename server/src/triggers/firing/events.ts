import type { NewEvent } from '../../foundation/outbox/index.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import type { Schedule } from '../schedules/index.ts'

type Named = Pick<Schedule, 'id' | 'name'>

export function startedEvent(row: ExecutionRow, schedule: Named): NewEvent {
  return about('schedule.execution_started', row, schedule, { triggered_by: row.triggered_by })
}

export function completedEvent(row: ExecutionRow, schedule: Named): NewEvent {
  const error = row.error === null ? {} : { error: row.error.slice(0, 200) }
  return about('schedule.execution_completed', row, schedule, { status: row.status, ...error })
}

export function skippedEvent(row: ExecutionRow, schedule: Named, reason: string): NewEvent {
  return about('schedule.execution_skipped', row, schedule, { reason })
}

function about(type: string, row: ExecutionRow, schedule: Named, fields: Record<string, unknown>): NewEvent {
  return {
    type,
    agent_names: [row.agent_name],
    agent_ids: [row.agent_id],
    fields: { schedule_id: schedule.id, schedule_name: schedule.name, execution_id: row.id, ...fields },
  }
}
