import type { Executor } from '../../ports/database/port.ts'
import type { HistoryTables, RestoreRow } from './tables.ts'

/** Ended restores that are kept for each agent. */
const keptRestores = 50

type End = Partial<
  Pick<
    RestoreRow,
    | 'reason'
    | 'message'
    | 'added'
    | 'changed'
    | 'attributes'
    | 'deleted'
    | 'conflicts'
    | 'conflict_count'
    | 'after_id'
  >
>

/** All SQL about restores. An agent has at most one open restore. */
export function restoreStore(executor: Executor) {
  const db = executor.withTables<HistoryTables>()
  const open = () => db.selectFrom('workspace_restores').where('ended_at', 'is', null)

  return {
    /** Stores an open restore, and removes the oldest ended ones. Returns false if another one is open. */
    async insert(row: RestoreRow): Promise<boolean> {
      // Another one may have been opened meanwhile, and the transaction of a run's end must not fail.
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('workspace_restores')
        .values(row)
        .onConflict((c) => c.doNothing())
        .executeTakeFirstOrThrow()
      const old = await db
        .selectFrom('workspace_restores')
        .select('id')
        .where('agent_id', '=', row.agent_id)
        .where('ended_at', 'is not', null)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .offset(keptRestores)
        .limit(keptRestores)
        .execute()
      const ids = old.map(({ id }) => id)
      if (ids.length > 0) await db.deleteFrom('workspace_restores').where('id', 'in', ids).execute()
      return numInsertedOrUpdatedRows === 1n
    },

    async byId(agentId: string, id: string): Promise<RestoreRow | null> {
      const query = db.selectFrom('workspace_restores').selectAll().where('id', '=', id)
      return (await query.where('agent_id', '=', agentId).executeTakeFirst()) ?? null
    },

    /** Newest first. */
    list(agentId: string, limit: number): Promise<RestoreRow[]> {
      const query = db.selectFrom('workspace_restores').selectAll().where('agent_id', '=', agentId)
      return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
    },

    async isOpen(agentId: string): Promise<boolean> {
      return (await open().select('id').where('agent_id', '=', agentId).executeTakeFirst()) !== undefined
    },

    async openOf(agentId: string): Promise<RestoreRow | null> {
      return (await open().selectAll().where('agent_id', '=', agentId).executeTakeFirst()) ?? null
    },

    allOpen: (): Promise<RestoreRow[]> => open().selectAll().execute(),

    /** Returns false if it is no longer in this state. */
    async change(
      { id, state, runner }: Pick<RestoreRow, 'id' | 'state' | 'runner'>,
      at: string,
      to: Partial<Pick<RestoreRow, 'state' | 'runner' | 'before_id'>> & End,
    ): Promise<boolean> {
      const query = db
        .updateTable('workspace_restores')
        .set({ ...to, updated_at: at })
        .where('id', '=', id)
        .where('state', '=', state)
        .where('runner', runner === null ? 'is' : '=', runner)
      return (await query.executeTakeFirst()).numUpdatedRows > 0n
    },

    /** Returns false if it is no longer in this state. */
    async end(
      { id, state, runner }: Pick<RestoreRow, 'id' | 'state' | 'runner'>,
      at: string,
      to: { state: 'restored' | 'unchanged' | 'failed' } & End,
    ): Promise<boolean> {
      const query = db
        .updateTable('workspace_restores')
        .set({ ...to, updated_at: at, ended_at: at })
        .where('id', '=', id)
        .where('state', '=', state)
        .where('runner', runner === null ? 'is' : '=', runner)
      return (await query.executeTakeFirst()).numUpdatedRows > 0n
    },
  }
}
