import { useState } from 'react'
import { axisTicks } from './axis-ticks.ts'
import type { ChartProps } from './chart-data.ts'

export const margin = { top: 6, right: 4, bottom: 0, left: 0 }

export const axisProps = {
  tickLine: false,
  axisLine: false,
  tick: { fill: 'var(--color-faint)', fontSize: 11 },
  tickMargin: 6,
}

/** The props of a value axis with round, equally spaced ticks. */
export function valueAxis(values: readonly number[], { format = String, scale }: ChartProps) {
  const ticks = axisTicks(values, scale)
  return {
    ...axisProps,
    width: 'auto',
    ticks,
    domain: [ticks[0] ?? 0, ticks.at(-1) ?? 1],
    interval: 0,
    tickFormatter: format,
  } as const
}

export const gridProps = { vertical: false, stroke: 'var(--color-line)' }

/** Read once per drawing: a changed setting applies to the next chart. */
export function useMayMove(): boolean {
  const [mayMove] = useState(() => !window.matchMedia('(prefers-reduced-motion: reduce)').matches)
  return mayMove
}
