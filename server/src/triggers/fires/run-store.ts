import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import type { ScheduleRunTables } from './tables.ts'

/** The position of a run among those that wait for a validation. */
export type Unvalidated = { completed_at: string; id: string }

/** Queries on executions for fires, retries and validations. */
export function scheduleRunStore(executor: Executor) {
  const db = executor.withTables<ScheduleRunTables>()
  return {
    /** Pending retries, the next one first. */
    pendingRetries(limit: number): Promise<ExecutionRow[]> {
      return db
        .selectFrom('executions')
        .selectAll()
        .where('completed_at', 'is', null)
        .where('status', '=', 'pending_retry')
        .orderBy('retry_scheduled_at')
        .limit(limit)
        .execute()
    },

    pendingOf(scheduleId: string): Promise<ExecutionRow[]> {
      return db
        .selectFrom('executions')
        .selectAll()
        .where('schedule_id', '=', scheduleId)
        .where('status', '=', 'pending_retry')
        .execute()
    },

    async postpone(id: string, at: string): Promise<void> {
      await db
        .updateTable('executions')
        .set({ retry_scheduled_at: at })
        .where('id', '=', id)
        .where('status', '=', 'pending_retry')
        .execute()
    },

    async triggerOf(id: string): Promise<ExecutionRow['triggered_by'] | null> {
      const row = await db
        .selectFrom('executions')
        .select('triggered_by')
        .where('id', '=', id)
        .executeTakeFirst()
      return row?.triggered_by ?? null
    },

    async markForValidation(
      id: string,
      business_status: 'pending_validation' | 'validation_unavailable',
    ): Promise<void> {
      await db.updateTable('executions').set({ business_status }).where('id', '=', id).execute()
    },

    /** False if the run already has a validation, or waits for none. */
    async linkValidation(id: string, validationId: string): Promise<boolean> {
      const result = await db
        .updateTable('executions')
        .set({ validation_execution_id: validationId })
        .where('id', '=', id)
        .where('business_status', '=', 'pending_validation')
        .where('validation_execution_id', 'is', null)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** Null if it was already decided. */
    async decideValidation(
      id: string,
      decision: Pick<ExecutionRow, 'business_status' | 'validated_at' | 'validation_report'>,
    ): Promise<ExecutionRow | null> {
      const row = await db
        .updateTable('executions')
        .set(decision)
        .where('id', '=', id)
        .where('business_status', '=', 'pending_validation')
        .returningAll()
        .executeTakeFirst()
      return row ?? null
    },

    /** Runs whose validation has not begun, oldest first; `after` null for the first page. */
    unvalidated(after: Unvalidated | null, limit: number): Promise<Unvalidated[]> {
      return db
        .selectFrom('executions')
        .select(['id', sql<string>`completed_at`.as('completed_at')])
        .where('business_status', '=', 'pending_validation')
        .where('validation_execution_id', 'is', null)
        .$if(after !== null, (q) =>
          q.where(sql<boolean>`(completed_at, id) > (${after?.completed_at}, ${after?.id})`),
        )
        .orderBy('completed_at')
        .orderBy('id')
        .limit(limit)
        .execute()
    },

    /** The progress of runs; unknown ids are omitted. */
    progress(ids: readonly string[]): Promise<RunProgress[]> {
      return db
        .selectFrom('executions')
        .select([
          'id',
          'status',
          'started_at',
          'timeout_seconds',
          'business_status',
          'validation_execution_id',
        ])
        .where('id', 'in', [...ids])
        .execute()
    },
  }
}

export type RunProgress = Pick<
  ExecutionRow,
  'id' | 'status' | 'started_at' | 'timeout_seconds' | 'business_status' | 'validation_execution_id'
>
