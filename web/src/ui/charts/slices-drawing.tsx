import { useId } from 'react'
import { Cell, Pie, PieChart, ResponsiveContainer, Tooltip } from 'recharts'
import { type ChartProps, colourOf } from './chart-data.ts'
import { useMayMove } from './drawing.ts'
import { Pattern } from './patterns.tsx'

export type SlicesProps = ChartProps & {
  /** Draws a ring instead of a pie. */
  isRing?: boolean
}

/** Loaded on demand: the chart library is large. */
export function SlicesDrawing({ data, series, format = String, isRing = false }: SlicesProps) {
  const id = useId()
  const mayMove = useMayMove()
  const values = data[0]?.values ?? {}
  // A negative amount is not a share.
  const slices = series.map((one) => ({ ...one, value: Math.max(0, values[one.id] ?? 0) }))
  return (
    <ResponsiveContainer width="100%" height="100%">
      <PieChart accessibilityLayer={false}>
        <defs>
          {series.map((one, index) => (
            <Pattern key={one.id} id={`${id}-${index}`} colour={colourOf(one, index)} index={index} />
          ))}
        </defs>
        <Tooltip
          isAnimationActive={false}
          formatter={(value, name) => [format(Number(value)), name]}
          contentStyle={tooltip}
          itemStyle={{ color: 'var(--color-ink)' }}
        />
        <Pie
          data={slices}
          dataKey="value"
          nameKey="label"
          innerRadius={isRing ? '58%' : 0}
          outerRadius="92%"
          startAngle={90}
          endAngle={-270}
          stroke="var(--color-surface)"
          strokeWidth={2}
          rootTabIndex={-1}
          isAnimationActive={mayMove}
          animationDuration={250}
        >
          {slices.map((one, index) => (
            <Cell key={one.id} fill={`url(#${id}-${index})`} />
          ))}
        </Pie>
      </PieChart>
    </ResponsiveContainer>
  )
}

const tooltip = {
  background: 'var(--color-raised)',
  border: '1px solid var(--color-line)',
  borderRadius: 6,
  fontSize: 12,
  padding: '6px 10px',
}
