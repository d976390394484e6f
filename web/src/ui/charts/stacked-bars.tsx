import { lazyPart } from '../lazy-part.tsx'
import type { ChartProps } from './chart-data.ts'
import { ChartFrame, ChartMissing } from './chart-frame.tsx'

/** Amounts over time as stacked bars: successes and failures, cost by model. */
export function StackedBars(props: ChartProps) {
  return (
    <ChartFrame chart={props} kind="bars">
      <Drawing {...props} />
    </ChartFrame>
  )
}

const Drawing = lazyPart(async () => (await import('./bars-drawing.tsx')).BarsDrawing, ChartMissing)
