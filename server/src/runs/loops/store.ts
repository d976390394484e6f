import { finalStatuses } from '@roost/contracts/runs/executions'
import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../executions/index.ts'
import type { LoopsTable, LoopTables } from './tables.ts'

export type LoopRow = LoopsTable

/** The columns of a run that its view shows and that decide the next step. */
export type RunRow = Pick<ExecutionRow, (typeof runColumns)[number]> & { response_preview: string | null }

const runColumns = [
  'id',
  'loop_id',
  'status',
  'cost_micros',
  'cost_estimated',
  'duration_ms',
  'error',
  'error_code',
  'started_at',
  'completed_at',
] as const

export type LoopFilter = {
  agentId: string
  /** `queued`: open, without a claimed run; `running`: any other open loop. */
  status?: LoopsTable['status'] | 'queued' | 'running' | undefined
  /** Only loops that this key started. */
  keyId?: string | undefined
}

/** Only reads `executions`. The runs of a loop are numbered in their order. */
export function loopStore(executor: Executor) {
  const db = executor.withTables<LoopTables>()
  const runs = () => db.selectFrom('executions').orderBy('queue_number')

  return {
    async insert(row: LoopRow): Promise<void> {
      await db.insertInto('loops').values(row).execute()
    },

    async find(id: string): Promise<LoopRow | null> {
      return (await db.selectFrom('loops').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
    },

    async list({ agentId, status, keyId }: LoopFilter, limit: number): Promise<LoopRow[]> {
      let query = db.selectFrom('loops').selectAll().where('agent_id', '=', agentId)
      if (keyId !== undefined) query = query.where('source_mcp_key_id', '=', keyId)
      if (status === 'queued' || status === 'running') {
        const begun = sql<boolean>`(runs_completed > 0 or exists (select 1 from executions as run where run.loop_id = loops.id and run.started_at is not null))`
        query = query.where('status', '=', 'open')
        query = query.where((e) => (status === 'running' ? begun : e.not(begun)))
      } else if (status !== undefined) query = query.where('status', '=', status)
      return query.orderBy('created_at', 'desc').orderBy('id').limit(limit).execute()
    },

    /** Runs of these loops, in order. */
    async runs(loopIds: readonly string[]): Promise<RunRow[]> {
      if (loopIds.length === 0) return []
      return runs()
        .select(runColumns)
        .select(sql<string | null>`substr(response, 1, 500)`.as('response_preview'))
        .where('loop_id', 'in', [...loopIds])
        .execute()
    },

    /** Replies of these runs, by run id. */
    async responses(ids: readonly string[]): Promise<Map<string, string>> {
      if (ids.length === 0) return new Map()
      const rows = await db
        .selectFrom('executions')
        .select(['id', 'response'])
        .where('id', 'in', [...ids])
        .execute()
      return new Map(rows.map(({ id, response }) => [id, response ?? '']))
    },

    /**
     * Locks an open loop without an open run until the transaction ends. Null when it has ended, has an open
     * run, or another process was faster.
     */
    async holdIdle(id: string): Promise<LoopRow | null> {
      const row = await db
        .updateTable('loops')
        .set((e) => ({ runs_completed: e.ref('runs_completed') }))
        .where('id', '=', id)
        .where('completed_at', 'is', null)
        .where('open_execution_id', 'is', null)
        .returningAll()
        .executeTakeFirst()
      return row ?? null
    },

    async opened(id: string, executionId: string): Promise<void> {
      await db
        .updateTable('loops')
        .set({ open_execution_id: executionId, next_run_at: null })
        .where('id', '=', id)
        .execute()
    },

    /**
     * Counts the end of the open run, once per execution, and locks the loop until the transaction ends. Null
     * when it was counted before or the loop is deleted.
     */
    async countEnd(id: string, executionId: string): Promise<LoopRow | null> {
      const row = await db
        .updateTable('loops')
        .set((e) => ({ open_execution_id: null, runs_completed: e('runs_completed', '+', 1) }))
        .where('id', '=', id)
        .where('open_execution_id', '=', executionId)
        .where('completed_at', 'is', null)
        .returningAll()
        .executeTakeFirst()
      return row ?? null
    },

    /** No effect while a run is open or after the end of the loop. */
    async checkAgainAt(id: string, at: string): Promise<void> {
      await db
        .updateTable('loops')
        .set({ next_run_at: at })
        .where('id', '=', id)
        .where('completed_at', 'is', null)
        .where('open_execution_id', 'is', null)
        .execute()
    },

    async end(
      id: string,
      end: Pick<LoopRow, 'status' | 'stop_reason' | 'error' | 'completed_at'>,
    ): Promise<void> {
      await db
        .updateTable('loops')
        .set({ ...end, next_run_at: null })
        .where('id', '=', id)
        .execute()
    },

    /** Returns false when the loop has ended. */
    async requestStop(id: string, at: string): Promise<boolean> {
      const result = await db
        .updateTable('loops')
        .set((e) => ({ stop_requested_at: e.fn.coalesce('stop_requested_at', e.val(at)) }))
        .where('id', '=', id)
        .where('completed_at', 'is', null)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** Requests a stop of every open loop of the agent; returns their ids. */
    async requestStopOf(agentId: string, at: string): Promise<string[]> {
      const rows = await db
        .updateTable('loops')
        .set((e) => ({ stop_requested_at: e.fn.coalesce('stop_requested_at', e.val(at)) }))
        .where('agent_id', '=', agentId)
        .where('completed_at', 'is', null)
        .returning('id')
        .execute()
      return rows.map(({ id }) => id)
    },

    /** Open loops with a pending step: due, stopped, or with an ended or deleted run. */
    async due(now: string, limit: number): Promise<string[]> {
      const rows = await db
        .selectFrom('loops')
        .leftJoin('executions as run', 'run.id', 'loops.open_execution_id')
        .select('loops.id')
        .where('loops.completed_at', 'is', null)
        .where((e) =>
          e.or([
            e.and([
              e('loops.open_execution_id', 'is', null),
              e.or([e('loops.next_run_at', '<=', now), e('loops.stop_requested_at', 'is not', null)]),
            ]),
            e.and([
              e('loops.open_execution_id', 'is not', null),
              e.or([e('run.status', 'in', [...finalStatuses]), e('run.id', 'is', null)]),
            ]),
          ]),
        )
        .orderBy('loops.next_run_at')
        .orderBy('loops.id')
        .limit(limit)
        .execute()
      return rows.map(({ id }) => id)
    },

    async countAll(): Promise<number> {
      const row = await db
        .selectFrom('loops')
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    async countEnded(before: string): Promise<number> {
      const row = await db
        .selectFrom('loops')
        .select((e) => e.fn.countAll<number>().as('total'))
        .where('completed_at', '<', before)
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** Deletes at most `limit` of them; their runs have their own retention. */
    async removeEnded(before: string, limit: number): Promise<number> {
      const ended = db.selectFrom('loops').select('id').where('completed_at', '<', before).limit(limit)
      const result = await db.deleteFrom('loops').where('id', 'in', ended).executeTakeFirst()
      return Number(result.numDeletedRows)
    },

    async removeOfAgent(agentId: string): Promise<void> {
      await db.deleteFrom('loops').where('agent_id', '=', agentId).execute()
    },
  }
}
