import type { DotItemDotProps } from 'recharts'
import { type ChartPoint, isAlone } from './chart-data.ts'

/** Draws dots for the values that no line reaches, such as the only day with runs. */
export function lonePoints(data: readonly ChartPoint[], id: string) {
  return ({ key, cx, cy, index, stroke }: DotItemDotProps) =>
    isAlone(data, id, index) ? <circle key={key} cx={cx} cy={cy} r={3} fill={stroke} /> : <g key={key} />
}
