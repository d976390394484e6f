import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import type { ScheduleRunTables } from './tables.ts'

/** Where a run stands among those that wait for a validation. */
export type Unvalidated = { completed_at: string; id: string }

/** What fires, retries and validations need of the records of runs. */
export function scheduleRunStore(executor: Executor) {
  const db = executor.withTables<ScheduleRunTables>()
  return {
    /** Retries that wait, the next one first. */
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

    /** False: it has a validation already, or waits for none. */
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

    /** Null: it was decided before. */
    async decideValidation(
      id: string,
      decided: Pick<ExecutionRow, 'business_status' | 'validated_at' | 'validation_report'>,
    ): Promise<ExecutionRow | null> {
      const row = await db
        .updateTable('executions')
        .set(decided)
        .where('id', '=', id)
        .where('business_status', '=', 'pending_validation')
        .returningAll()
        .executeTakeFirst()
      return row ?? null
    },

    /** Runs that wait for a validation that was not begun, the oldest first; null for the first of them. */
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

    /** How far runs are; unknown ids are left out. */
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
