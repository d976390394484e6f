import type { Executor } from '../../ports/database/port.ts'
import type { CanvasesTable, CanvasTables } from './tables.ts'

export type CanvasRow = CanvasesTable
export type SummaryRow = Omit<CanvasRow, 'blocks'>

const summary = [
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

/** The only SQL about canvases. */
export function canvasStore(executor: Executor) {
  const db = executor.withTables<CanvasTables>()
  const of = (agentId: string) => db.selectFrom('agent_canvases').where('agent_id', '=', agentId)
  return {
    async list(agentId: string): Promise<SummaryRow[]> {
      return of(agentId)
        .select(summary)
        .orderBy('pinned', 'desc')
        .orderBy('updated_at', 'desc')
        .orderBy('canvas_id')
        .execute()
    },
    async find(agentId: string, canvasId: string): Promise<CanvasRow | null> {
      const row = await of(agentId).selectAll().where('canvas_id', '=', canvasId).executeTakeFirst()
      return row ?? null
    },
    async count(agentId: string): Promise<number> {
      const row = await of(agentId)
        .select((e) => e.fn.countAll<number | string>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },
    /** Writes a canvas, new or anew; pin and time of creation of one that is there stay. */
    async put(row: CanvasRow): Promise<void> {
      const { agent_id: _, canvas_id: __, created_at: ___, pinned: ____, ...changed } = row
      await db
        .insertInto('agent_canvases')
        .values(row)
        .onConflict((conflict) => conflict.columns(['agent_id', 'canvas_id']).doUpdateSet(changed))
        .execute()
    },
    /** Nobody deletes it until the transaction ends; false: there is no such canvas. */
    async hold(agentId: string, canvasId: string): Promise<boolean> {
      const result = await db
        .updateTable('agent_canvases')
        .set((e) => ({ pinned: e.ref('pinned') }))
        .where('agent_id', '=', agentId)
        .where('canvas_id', '=', canvasId)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },
    /** Null: there is no such canvas. */
    async pin(agentId: string, canvasId: string, pinned: 0 | 1): Promise<SummaryRow | null> {
      const row = await db
        .updateTable('agent_canvases')
        .set({ pinned })
        .where('agent_id', '=', agentId)
        .where('canvas_id', '=', canvasId)
        .returning(summary)
        .executeTakeFirst()
      return row ?? null
    },
    /** Those that were there; their links go with them. */
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
