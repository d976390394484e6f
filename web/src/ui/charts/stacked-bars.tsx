import { lazyPart } from '../lazy-part.tsx'
import type { BarsProps } from './bars-drawing.tsx'
import { ChartFrame, ChartMissing } from './chart-frame.tsx'

/** Amounts over time as stacked bars: successes and failures, cost by model. */
export function StackedBars(props: Omit<BarsProps, 'isGrouped'>) {
  return (
    <ChartFrame chart={props} kind="bars">
      <Drawing {...props} />
    </ChartFrame>
  )
}

const Drawing = lazyPart(async () => (await import('./bars-drawing.tsx')).BarsDrawing, ChartMissing)
