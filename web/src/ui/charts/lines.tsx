import { lazyPart } from '../lazy-part.tsx'
import type { ChartProps } from './chart-data.ts'
import { ChartFrame, ChartMissing } from './chart-frame.tsx'

/** Measures over time, one line each. A null value leaves a gap. */
export function Lines(props: ChartProps) {
  return (
    <ChartFrame chart={props} kind="lines">
      <Drawing {...props} />
    </ChartFrame>
  )
}

const Drawing = lazyPart(async () => (await import('./lines-drawing.tsx')).LinesDrawing, ChartMissing)
