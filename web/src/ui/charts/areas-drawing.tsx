import { Area, AreaChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { valuesOf } from './axis-ticks.ts'
import { type ChartProps, colourOf, dashOf } from './chart-data.ts'
import { ChartTooltip } from './chart-tooltip.tsx'
import { axisProps, gridProps, margin, useMayMove, valueAxis } from './drawing.ts'
import { lonePoints } from './lone-points.tsx'

/** Loaded on demand: the chart library is large. */
export function AreasDrawing(chart: ChartProps) {
  const { data, series, format = String } = chart
  const mayMove = useMayMove()
  return (
    <ResponsiveContainer width="100%" height="100%">
      <AreaChart data={[...data]} margin={margin} accessibilityLayer={false}>
        <CartesianGrid {...gridProps} />
        <XAxis dataKey="label" {...axisProps} minTickGap={16} />
        <YAxis {...valueAxis(valuesOf(chart), chart)} />
        <Tooltip
          cursor={{ stroke: 'var(--color-line-strong)' }}
          isAnimationActive={false}
          content={<ChartTooltip series={series} format={format} />}
        />
        {series.map((one, index) => (
          <Area
            key={one.id}
            dataKey={(point) => point.values[one.id] ?? null}
            name={one.id}
            type="monotone"
            stroke={colourOf(one, index)}
            strokeWidth={1.75}
            strokeDasharray={dashOf(index)}
            fill={colourOf(one, index)}
            fillOpacity={0.12}
            dot={lonePoints(data, one.id)}
            activeDot={{ r: 3, strokeWidth: 0 }}
            isAnimationActive={mayMove}
            animationDuration={250}
          />
        ))}
      </AreaChart>
    </ResponsiveContainer>
  )
}
