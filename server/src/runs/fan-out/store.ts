import { finalStatuses } from '@roost/contracts/runs/executions'
import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../executions/index.ts'

export type FanOutsTable = {
  /** `fo_…` */
  id: string
  agent_id: string
  max_concurrency: number
  /** The key that started it; null for a person's session. */
  source_mcp_key_id: string | null
  created_at: string
  /** Time of the completion event; null before. The outcome is read from the runs. */
  completed_at: string | null
}

export type FanOutTables = { fan_outs: FanOutsTable; executions: ExecutionRow }

export type FanOutRow = FanOutsTable

/** The columns that decide the next step of a fan-out. */
export type TaskState = Pick<ExecutionRow, 'id' | 'status' | 'queued_at'>
/** The columns that a task's result shows. */
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

/** Only reads `executions`. The runs of a fan-out are numbered in the order of its tasks. */
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

    /** Fan-outs that are not complete, by id, after the id `after`. */
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

    /** Returns false when it was complete already. */
    async complete(id: string, at: string): Promise<boolean> {
      const result = await db
        .updateTable('fan_outs')
        .set({ completed_at: at })
        .where('id', '=', id)
        .where('completed_at', 'is', null)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    taskStates: (id: string): Promise<TaskState[]> =>
      runsOf(id).select(['id', 'status', 'queued_at']).execute(),

    tasks: (id: string): Promise<TaskRow[]> => runsOf(id).select(taskColumns).execute(),

    async countAll(): Promise<number> {
      const row = await db
        .selectFrom('fan_outs')
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    async countEnded(before: string): Promise<number> {
      const row = await db
        .selectFrom('fan_outs')
        .select((e) => e.fn.countAll<number>().as('total'))
        .where('completed_at', '<', before)
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** Deletes at most `limit` of them; their runs have their own retention. */
    async removeEnded(before: string, limit: number): Promise<number> {
      const ended = db.selectFrom('fan_outs').select('id').where('completed_at', '<', before).limit(limit)
      const result = await db.deleteFrom('fan_outs').where('id', 'in', ended).executeTakeFirst()
      return Number(result.numDeletedRows)
    },

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
