import type { CanvasAudience } from '@roost/contracts/conversations/canvas'
import type { CanvasTemplate } from '@roost/contracts/conversations/canvas-blocks'
import type { ShareScope } from '@roost/contracts/conversations/canvas-shares'
import type { SealedText } from '../../foundation/vault/index.ts'
import type { Executor } from '../../ports/database/port.ts'

export type CanvasesTable = {
  agent_id: string
  canvas_id: string
  title: string | null
  audience: CanvasAudience
  template: CanvasTemplate | null
  pinned: 0 | 1
  created_at: string
  updated_at: string
  updated_by_execution_id: string | null
  /** JSON. */
  blocks: string
}

export type CanvasSharesTable = {
  id: string
  agent_id: string
  canvas_id: string
  /** SHA-256 of the token. */
  token_hash: string
  token_sealed: SealedText
  scope: ShareScope
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  last_viewed_at: string | null
  view_count: number
}

export type CanvasTables = { agent_canvases: CanvasesTable; canvas_shares: CanvasSharesTable }

export type CanvasRow = CanvasesTable
export type SummaryRow = Omit<CanvasRow, 'blocks'>

const summaryColumns = [
  'agent_id',
  'canvas_id',
  'title',
  'audience',
  'template',
  'pinned',
  'created_at',
  'updated_at',
  'updated_by_execution_id',
] as const satisfies readonly (keyof SummaryRow)[]

/** The SQL of canvases. */
export function canvasStore(executor: Executor) {
  const db = executor.withTables<CanvasTables>()
  const ofAgent = (agentId: string) => db.selectFrom('agent_canvases').where('agent_id', '=', agentId)
  return {
    async list(agentId: string): Promise<SummaryRow[]> {
      return ofAgent(agentId)
        .select(summaryColumns)
        .orderBy('pinned', 'desc')
        .orderBy('updated_at', 'desc')
        .orderBy('canvas_id')
        .execute()
    },
    async find(agentId: string, canvasId: string): Promise<CanvasRow | null> {
      const row = await ofAgent(agentId).selectAll().where('canvas_id', '=', canvasId).executeTakeFirst()
      return row ?? null
    },
    async count(agentId: string): Promise<number> {
      const row = await ofAgent(agentId)
        .select((e) => e.fn.countAll<number | string>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },
    /** Inserts or replaces a canvas; an existing one keeps its pin and creation time. */
    async put(row: CanvasRow): Promise<void> {
      const { agent_id: _, canvas_id: __, created_at: ___, pinned: ____, ...changed } = row
      await db
        .insertInto('agent_canvases')
        .values(row)
        .onConflict((conflict) => conflict.columns(['agent_id', 'canvas_id']).doUpdateSet(changed))
        .execute()
    },
    /** Locks a canvas until the transaction ends. Returns false when it does not exist. */
    async hold(agentId: string, canvasId: string): Promise<boolean> {
      const result = await db
        .updateTable('agent_canvases')
        .set((e) => ({ pinned: e.ref('pinned') }))
        .where('agent_id', '=', agentId)
        .where('canvas_id', '=', canvasId)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },
    /** Returns null when the canvas does not exist. */
    async pin(agentId: string, canvasId: string, pinned: 0 | 1): Promise<SummaryRow | null> {
      const row = await db
        .updateTable('agent_canvases')
        .set({ pinned })
        .where('agent_id', '=', agentId)
        .where('canvas_id', '=', canvasId)
        .returning(summaryColumns)
        .executeTakeFirst()
      return row ?? null
    },
    /** Returns the deleted canvases. Their links are deleted by the foreign key. */
    async remove(agentId: string, canvasIds: readonly string[]) {
      return db
        .deleteFrom('agent_canvases')
        .where('agent_id', '=', agentId)
        .where('canvas_id', 'in', [...canvasIds])
        .returning(['canvas_id', 'title'])
        .execute()
    },
  }
}

export type ShareRow = CanvasSharesTable

/** The SQL of share links. */
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
    /** Keeps the first end. Returns false when the agent has no such link. */
    async revoke(agentId: string, id: string, at: string): Promise<boolean> {
      const result = await db
        .updateTable('canvas_shares')
        .set((e) => ({ revoked_at: e.fn.coalesce('revoked_at', e.val(at)) }))
        .where('agent_id', '=', agentId)
        .where('id', '=', id)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },
    /** Finds a link that has not ended at this time. */
    async findOpen(tokenHash: string, now: string): Promise<ShareRow | null> {
      const row = await db
        .selectFrom('canvas_shares')
        .selectAll()
        .where('token_hash', '=', tokenHash)
        .where('revoked_at', 'is', null)
        .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', now)]))
        .executeTakeFirst()
      return row ?? null
    },
    async recordView(id: string, at: string): Promise<void> {
      await db
        .updateTable('canvas_shares')
        .set((e) => ({ view_count: e('view_count', '+', 1), last_viewed_at: at }))
        .where('id', '=', id)
        .execute()
    },
  }
}
