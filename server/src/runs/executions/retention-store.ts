import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import { modelCallStore } from './model-call-store.ts'
import type { ExecutionTables } from './tables.ts'

/** The position of an ended run in the order of ends. */
export type EndedRun = { id: string; completed_at: string }

/** Columns of other features, read only to keep runs that belong to one of their rows. */
type RetentionTables = ExecutionTables & {
  loops: { id: string; completed_at: string | null }
  fan_outs: { id: string; completed_at: string | null }
}

const references = ['retry_of_execution_id', 'validates_execution_id', 'parent_execution_id'] as const

/** Finds and deletes ended runs by the time of their end. */
export function runRetentionStore(executor: Executor) {
  const db = executor.withTables<RetentionTables>()
  const endedBefore = (before: string) => db.selectFrom('executions').where('completed_at', '<', before)

  async function countOf(query: { executeTakeFirstOrThrow(): Promise<{ total: number }> }): Promise<number> {
    return Number((await query.executeTakeFirstOrThrow()).total)
  }

  /**
   * Runs that may be deleted, oldest first. A run stays while its loop or fan-out stays, while it waits for a
   * validation, and if it is one of `referenced`.
   */
  function deletable(before: string, referenced: readonly string[]) {
    return endedBefore(before)
      .where((e) =>
        e.or([e('business_status', 'is', null), e('business_status', '!=', 'pending_validation')]),
      )
      .where((e) =>
        e.not(
          e.exists(e.selectFrom('loops').select('loops.id').whereRef('loops.id', '=', 'executions.loop_id')),
        ),
      )
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('fan_outs')
              .select('fan_outs.id')
              .whereRef('fan_outs.id', '=', 'executions.fan_out_id'),
          ),
        ),
      )
      .$if(referenced.length > 0, (q) => q.where('executions.id', 'not in', [...referenced]))
      .orderBy('executions.completed_at')
      .orderBy('executions.id')
  }

  return {
    countAll: () => countOf(db.selectFrom('executions').select((e) => e.fn.countAll<number>().as('total'))),
    /** Includes the few runs that are kept for another reason. */
    countEnded: (before: string) =>
      countOf(endedBefore(before).select((e) => e.fn.countAll<number>().as('total'))),

    /** Runs whose transcript was not removed, oldest first; `after` null for the first page. */
    withLog(before: string, after: EndedRun | null, limit: number): Promise<EndedRun[]> {
      return endedBefore(before)
        .select(['id', sql<string>`completed_at`.as('completed_at')])
        .where('log_removed_at', 'is', null)
        .$if(after !== null, (q) =>
          q.where(sql<boolean>`(completed_at, id) > (${after?.completed_at}, ${after?.id})`),
        )
        .orderBy('completed_at')
        .orderBy('id')
        .limit(limit)
        .execute()
    },

    async markLogRemoved(ids: readonly string[], at: string): Promise<void> {
      if (ids.length === 0) return
      await db
        .updateTable('executions')
        .set({ log_removed_at: at })
        .where('id', 'in', [...ids])
        .execute()
    },

    /** Old runs to which a run refers that has not ended. */
    async referenced(before: string): Promise<string[]> {
      const found = await Promise.all(
        references.map((reference) =>
          db
            .selectFrom('executions as open')
            .innerJoin('executions as target', (join) => join.onRef('target.id', '=', `open.${reference}`))
            .select('target.id')
            .where('open.completed_at', 'is', null)
            .where('target.completed_at', '<', before)
            .execute(),
        ),
      )
      return [...new Set(found.flat().map(({ id }) => id))]
    },

    /** Deletable runs that still have a transcript. */
    deletableWithLog(
      before: string,
      referenced: readonly string[],
      limit: number,
    ): Promise<Pick<EndedRun, 'id'>[]> {
      return deletable(before, referenced)
        .select('executions.id')
        .where('log_removed_at', 'is', null)
        .limit(limit)
        .execute()
    },

    /** Deletable runs, with the size of their long columns. */
    deletable(
      before: string,
      referenced: readonly string[],
      limit: number,
    ): Promise<{ id: string; bytes: number }[]> {
      const long = sql<number>`octet_length(message) + octet_length(request) + octet_length(coalesce(response, ''))`
      return deletable(before, referenced)
        .select(['executions.id', long.as('bytes')])
        .limit(limit)
        .execute()
    },

    /** Removes these runs with their model calls. */
    async remove(ids: readonly string[], before: string): Promise<number> {
      await modelCallStore(executor).remove(ids)
      const result = await db
        .deleteFrom('executions')
        .where('id', 'in', [...ids])
        .where('completed_at', '<', before)
        .executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }
}
