import type { Canvas } from '@roost/contracts/conversations/canvas'
import { LayoutPanelTop } from 'lucide-react'
import { cx } from '../../ui/class-names.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { type BlockContext, BlockView } from './block-view.tsx'
import { filledSlots, type SlotWidth } from './layout.ts'

type CanvasSheetProps = BlockContext & { canvas: Pick<Canvas, 'blocks' | 'template'> }

/** The blocks of a canvas in the slots of its template, side by side where they fit. */
export function CanvasSheet({ canvas: { blocks, template }, ...context }: CanvasSheetProps) {
  const slots = filledSlots(template, blocks)
  if (slots.length === 0) {
    return (
      <EmptyState
        icon={<LayoutPanelTop aria-hidden />}
        title="This canvas is empty"
        description="The agent has not added any blocks yet."
      />
    )
  }
  const isText = template === 'report' || template === 'brief'
  return (
    <div className="@container min-w-0">
      <div className={cx('grid grid-cols-1 gap-4 @3xl:grid-cols-6', isText && 'max-w-4xl')}>
        {slots.map(({ slot, width, blocks: inside }) => (
          <div key={slot} className={cx('min-w-0', widths[width])}>
            <div
              className={cx('grid grid-cols-1 gap-4', slot === 'figures' && 'items-start @3xl:grid-cols-2')}
            >
              {inside.map((block) => (
                <BlockView key={block.id} block={block} {...context} />
              ))}
            </div>
          </div>
        ))}
      </div>
    </div>
  )
}

const widths: Record<SlotWidth, string> = {
  whole: '@3xl:col-span-6',
  'two-thirds': '@3xl:col-span-4',
  third: '@3xl:col-span-2',
  half: '@3xl:col-span-3',
}
