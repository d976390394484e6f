import { lazyPart } from '../lazy-part.tsx'
import type { ChartProps } from './chart-data.ts'
import { ChartFrame, ChartMissing } from './chart-frame.tsx'

/** Measures over time as filled lines. */
export function Areas(props: ChartProps) {
  return (
    <ChartFrame chart={props} kind="lines">
      <Drawing {...props} />
    </ChartFrame>
  )
}

const Drawing = lazyPart(async () => (await import('./areas-drawing.tsx')).AreasDrawing, ChartMissing)
