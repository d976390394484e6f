import type { CanvasSummary } from '@roost/contracts/conversations/canvas'

/** What a canvas is called where its agent has given it no title. */
export function nameOf({ title, canvas_id }: Pick<CanvasSummary, 'title' | 'canvas_id'>): string {
  if (title) return title
  return canvas_id === 'main' ? 'Main canvas' : canvas_id
}
