import { lazyPart } from '../lazy-part.tsx'
import { ChartFrame, ChartMissing } from './chart-frame.tsx'
import type { SlicesProps } from './slices-drawing.tsx'

/** Shares of a whole: one slice per series, from the first point. */
export function Slices(props: SlicesProps) {
  return (
    <ChartFrame chart={props} kind="bars">
      <Drawing {...props} />
    </ChartFrame>
  )
}

const Drawing = lazyPart(async () => (await import('./slices-drawing.tsx')).SlicesDrawing, ChartMissing)
