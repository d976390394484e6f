import { finalStatuses } from '@roost/contracts/runs/executions'
import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../executions/index.ts'
import type { FanOutsTable, FanOutTables } from './tables.ts'

export type FanOutRow = FanOutsTable

/** What decides about the next step of a fan-out. */
export type Place = Pick<ExecutionRow, 'id' | 'status' | 'queued_at'>
/** What is told of one task. */
export type TaskRow = Pick<ExecutionRow, (typeof taskColumns)[number]>

const taskColumns = [
  'id',
  'agent_name',
  'fan_out_task_id',
  'status',
  'response',
  'error',
  'error_code',
  'cost_micros',
  'cost_estimated',
  'context_used',
  'duration_ms',
  'model_used',
  'started_at',
  'completed_at',
] as const

/** Of `executions` it only reads; the runs of a fan-out were numbered in the order of its tasks. */
export function fanOutStore(executor: Executor) {
  const db = executor.withTables<FanOutTables>()
  const runsOf = (id: string) =>
    db.selectFrom('executions').where('fan_out_id', '=', id).orderBy('queue_number')
  return {
    async insert(row: FanOutRow): Promise<void> {
      await db.insertInto('fan_outs').values(row).execute()
    },

    async find(id: string): Promise<FanOutRow | null> {
      const row = await db.selectFrom('fan_outs').selectAll().where('id', '=', id).executeTakeFirst()
      return row ?? null
    },

    /** Those whose end was not told yet, by id, behind `after`. */
    open(after: string, limit: number): Promise<FanOutRow[]> {
      return db
        .selectFrom('fan_outs')
        .selectAll()
        .where('completed_at', 'is', null)
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute()
    },

    /** False: its end was told already. */
    async complete(id: string, at: string): Promise<boolean> {
      const result = await db
        .updateTable('fan_outs')
        .set({ completed_at: at })
        .where('id', '=', id)
        .where('completed_at', 'is', null)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    places: (id: string): Promise<Place[]> => runsOf(id).select(['id', 'status', 'queued_at']).execute(),

    tasks: (id: string): Promise<TaskRow[]> => runsOf(id).select(taskColumns).execute(),

    async hasOpenTasks(id: string): Promise<boolean> {
      const row = await db
        .selectFrom('executions')
        .select('id')
        .where('fan_out_id', '=', id)
        .where('status', 'not in', [...finalStatuses])
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
  }
}
