import { useId } from 'react'
import {
  Bar,
  BarChart,
  CartesianGrid,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts'
import { valuesOf } from './axis-ticks.ts'
import { type ChartProps, colourOf } from './chart-data.ts'
import { ChartTooltip } from './chart-tooltip.tsx'
import { axisProps, gridProps, margin, useMayMove, valueAxis } from './drawing.ts'
import { Pattern } from './patterns.tsx'

export type BarsProps = ChartProps & {
  /** Places the series of a point side by side instead of stacked. */
  isGrouped?: boolean
  /** A horizontal line. The name of the chart has to state it too, because the drawing is hidden from readers. */
  limit?: { value: number; label: string } | undefined
  /** Called on a click on a bar. Offer another way for the keyboard. */
  onPick?: ((point: number, series: string) => void) | undefined
}

/** Loaded on demand: the chart library is large. */
export function BarsDrawing({ isGrouped = false, limit, onPick, ...chart }: BarsProps) {
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
        <YAxis {...valueAxis([...valuesOf(chart, !isGrouped), ...(limit ? [limit.value] : [])], chart)} />
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
            {...(onPick ? { cursor: 'pointer', onClick: (_, point) => onPick(point, one.id) } : {})}
          />
        ))}
        {limit && (
          <ReferenceLine
            y={limit.value}
            stroke="var(--color-danger)"
            strokeDasharray="6 3"
            label={{
              value: limit.label,
              position: 'insideTopRight',
              fill: 'var(--color-danger)',
              fontSize: 11,
            }}
          />
        )}
      </BarChart>
    </ResponsiveContainer>
  )
}
