import { lazyPart } from '../lazy-part.tsx'
import type { BarsProps } from './bars-drawing.tsx'
import { ChartFrame, ChartMissing } from './chart-frame.tsx'

/** One bar per point and series, or stacked. */
export function Bars(props: BarsProps) {
  return (
    <ChartFrame chart={props} kind="bars">
      <Drawing {...props} />
    </ChartFrame>
  )
}

const Drawing = lazyPart(async () => (await import('./bars-drawing.tsx')).BarsDrawing, ChartMissing)
