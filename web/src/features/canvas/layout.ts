import {
  type CanvasBlock,
  type CanvasTemplate,
  canvasTemplates,
} from '@roost/contracts/conversations/canvas-blocks'

/** The width of a slot in the grid of three columns. */
export type SlotWidth = 'whole' | 'two-thirds' | 'third' | 'half'
export type FilledSlot = { slot: string; width: SlotWidth; blocks: CanvasBlock[] }

/** The slot of blocks that name none. */
const homes: Record<CanvasTemplate, string> = {
  dashboard: 'main',
  report: 'body',
  brief: 'body',
  'status-board': 'status',
}

/** Slots that are side by side; one with an empty neighbour takes the width of both. */
const pairs: Partial<Record<CanvasTemplate, Record<string, { with: string; width: SlotWidth }>>> = {
  dashboard: { main: { with: 'side', width: 'two-thirds' }, side: { with: 'main', width: 'third' } },
  'status-board': { issues: { with: 'next', width: 'half' }, next: { with: 'issues', width: 'half' } },
}

/** The slots that have blocks, in the order of the template. Blocks keep their order. */
export function filledSlots(template: CanvasTemplate | null, blocks: readonly CanvasBlock[]): FilledSlot[] {
  if (template === null)
    return blocks.length === 0 ? [] : [{ slot: 'page', width: 'whole', blocks: [...blocks] }]
  const slots: readonly string[] = canvasTemplates[template]
  const slotOf = ({ slot }: CanvasBlock) => (slot !== null && slots.includes(slot) ? slot : homes[template])
  const of = (slot: string) => blocks.filter((block) => slotOf(block) === slot)
  return slots.flatMap((slot) => {
    const inside = of(slot)
    if (inside.length === 0) return []
    const pair = pairs[template]?.[slot]
    const width = pair && of(pair.with).length > 0 ? pair.width : 'whole'
    return [{ slot, width, blocks: inside }]
  })
}
