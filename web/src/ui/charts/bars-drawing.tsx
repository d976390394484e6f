import { useId } from 'react'
import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { valuesOf } from './axis-ticks.ts'
import { type ChartProps, colourOf } from './chart-data.ts'
import { ChartTooltip } from './chart-tooltip.tsx'
import { axisProps, gridProps, margin, useMayMove, valueAxis } from './drawing.ts'
import { Pattern } from './patterns.tsx'

export type BarsProps = ChartProps & {
  /** Places the series of a point side by side instead of stacked. */
  isGrouped?: boolean
}

/** Loaded on demand: the chart library is large. */
export function BarsDrawing({ isGrouped = false, ...chart }: BarsProps) {
  const { data, series, format = String } = chart
  const id = useId()
  const mayMove = useMayMove()
  return (
    <ResponsiveContainer width="100%" height="100%">
      <BarChart data={[...data]} margin={margin} barCategoryGap="20%" accessibilityLayer={false}>
        <defs>
          {series.map((one, index) => (
            <Pattern key={one.id} id={`${id}-${index}`} colour={colourOf(one, index)} index={index} />
          ))}
        </defs>
        <CartesianGrid {...gridProps} />
        <XAxis dataKey="label" {...axisProps} minTickGap={16} />
        <YAxis {...valueAxis(valuesOf(chart, !isGrouped), chart)} />
        <Tooltip
          cursor={{ fill: 'var(--color-hover)' }}
          isAnimationActive={false}
          content={<ChartTooltip series={series} format={format} />}
        />
        {series.map((one, index) => (
          <Bar
            key={one.id}
            dataKey={(point) => point.values[one.id] ?? 0}
            name={one.id}
            {...(isGrouped ? {} : { stackId: 'all' })}
            fill={`url(#${id}-${index})`}
            maxBarSize={28}
            radius={isGrouped || index === series.length - 1 ? [2, 2, 0, 0] : 0}
            isAnimationActive={mayMove}
            animationDuration={250}
          />
        ))}
      </BarChart>
    </ResponsiveContainer>
  )
}
