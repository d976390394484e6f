import type { CanvasSummary } from '@roost/contracts/conversations/canvas'

/** The name of a canvas without a title. */
export function nameOf({ title, canvas_id }: Pick<CanvasSummary, 'title' | 'canvas_id'>): string {
  if (title) return title
  return canvas_id === 'main' ? 'Main canvas' : canvas_id
}
