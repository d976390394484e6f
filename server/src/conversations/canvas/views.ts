import { type Canvas, type CanvasSummary, canvasStaleDays } from '@roost/contracts/conversations/canvas'
import type { CanvasBlock } from '@roost/contracts/conversations/canvas-blocks'
import { secondsLater, timestamp } from '../../kit/clock.ts'
import type { CanvasRow, SummaryRow } from './store.ts'

export function summaryOf(row: SummaryRow, agentName: string, now: Date): CanvasSummary {
  return {
    agent_name: agentName,
    canvas_id: row.canvas_id,
    title: row.title,
    audience: row.audience,
    template: row.template,
    pinned: row.pinned === 1,
    stale: row.updated_at < timestamp(secondsLater(now, -canvasStaleDays * 86_400)),
    created_at: row.created_at,
    updated_at: row.updated_at,
    updated_by_execution_id: row.updated_by_execution_id,
  }
}

export function canvasOf(row: CanvasRow, agentName: string, now: Date): Canvas {
  return { ...summaryOf(row, agentName, now), blocks: blocksOf(row) }
}

/** The column holds the result of `normalizeBlocks`. */
export function blocksOf({ blocks }: Pick<CanvasRow, 'blocks'>): CanvasBlock[] {
  return JSON.parse(blocks) as CanvasBlock[]
}
