import { lazy } from 'react'
import type { ChartProps } from './chart-data.ts'
import { ChartFrame } from './chart-frame.tsx'

/** Measures over time, one line each; a gap where a value is null. */
export function Lines(props: ChartProps) {
  return (
    <ChartFrame chart={props} kind="lines">
      <Drawing {...props} />
    </ChartFrame>
  )
}

const Drawing = lazy(() => import('./lines-drawing.tsx').then((file) => ({ default: file.LinesDrawing })))
