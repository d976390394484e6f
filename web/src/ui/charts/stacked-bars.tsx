import { lazy } from 'react'
import type { ChartProps } from './chart-data.ts'
import { ChartFrame } from './chart-frame.tsx'

/** Amounts over time, one bar a point, its parts stacked: successes and failures, cost by model. */
export function StackedBars(props: ChartProps) {
  return (
    <ChartFrame chart={props} kind="bars">
      <Drawing {...props} />
    </ChartFrame>
  )
}

const Drawing = lazy(() => import('./bars-drawing.tsx').then((file) => ({ default: file.BarsDrawing })))
