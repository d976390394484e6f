import { useState } from 'react'

export const margin = { top: 6, right: 4, bottom: 0, left: 0 }

export const axisProps = {
  tickLine: false,
  axisLine: false,
  tick: { fill: 'var(--color-faint)', fontSize: 11 },
  tickMargin: 6,
}

export const gridProps = { vertical: false, stroke: 'var(--color-line)' }

/** Read once per drawing: a changed setting applies to the next chart. */
export function useMayMove(): boolean {
  const [mayMove] = useState(() => !window.matchMedia('(prefers-reduced-motion: reduce)').matches)
  return mayMove
}
