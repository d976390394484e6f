import type { Executor } from '../../ports/database/port.ts'
import type { CanvasSharesTable, CanvasTables } from './tables.ts'

export type ShareRow = CanvasSharesTable

/** The only SQL about links to canvases. */
export function shareStore(executor: Executor) {
  const db = executor.withTables<CanvasTables>()
  return {
    async insert(row: ShareRow): Promise<void> {
      await db.insertInto('canvas_shares').values(row).execute()
    },
    async list(agentId: string, canvasId: string | undefined): Promise<ShareRow[]> {
      const all = db.selectFrom('canvas_shares').selectAll().where('agent_id', '=', agentId)
      return (canvasId === undefined ? all : all.where('canvas_id', '=', canvasId))
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute()
    },
    /** The first end counts. False: there is no such link of this agent. */
    async revoke(agentId: string, id: string, at: string): Promise<boolean> {
      const result = await db
        .updateTable('canvas_shares')
        .set((e) => ({ revoked_at: e.fn.coalesce('revoked_at', e.val(at)) }))
        .where('agent_id', '=', agentId)
        .where('id', '=', id)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },
    /** One that has not ended at this time. */
    async open(tokenHash: string, now: string): Promise<ShareRow | null> {
      const row = await db
        .selectFrom('canvas_shares')
        .selectAll()
        .where('token_hash', '=', tokenHash)
        .where('revoked_at', 'is', null)
        .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', now)]))
        .executeTakeFirst()
      return row ?? null
    },
    async viewed(id: string, at: string): Promise<void> {
      await db
        .updateTable('canvas_shares')
        .set((e) => ({ view_count: e('view_count', '+', 1), last_viewed_at: at }))
        .where('id', '=', id)
        .execute()
    },
  }
}
