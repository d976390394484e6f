import { useMemo } from 'react'
import { Areas } from '../../ui/charts/areas.tsx'
import { Bars } from '../../ui/charts/bars.tsx'
import { Lines } from '../../ui/charts/lines.tsx'
import { Slices } from '../../ui/charts/slices.tsx'
import { type ChartPayload, chartOf } from './chart-points.ts'

/** The chart frame also offers the numbers as a table for screen readers. */
export function ChartBlock({ payload, label }: { payload: ChartPayload; label: string }) {
  const drawn = useMemo(() => chartOf(payload), [payload])
  if (drawn.data.length === 0) return <p className="py-8 text-center text-muted text-sm">No data yet.</p>
  const chart = { ...drawn, label, height: 240 }
  switch (payload.type) {
    case 'line':
      return <Lines {...chart} />
    case 'area':
      return <Areas {...chart} />
    case 'bar':
      return <Bars {...chart} isGrouped />
    case 'stacked_bar':
      return <Bars {...chart} />
    case 'pie':
    case 'donut':
      return <Slices {...chart} isRing={payload.type === 'donut'} />
  }
}
