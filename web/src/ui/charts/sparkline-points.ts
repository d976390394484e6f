export type Point = [x: number, y: number]

/** SVG lines through the values in a box of that size, broken at null; y grows downward. */
export function sparklinePoints(
  values: readonly (number | null)[],
  width: number,
  height: number,
): Point[][] {
  const known = values.filter((value) => value !== null)
  const low = Math.min(...known)
  const span = Math.max(...known) - low
  const step = values.length > 1 ? width / (values.length - 1) : 0
  const lines: Point[][] = []
  let line: Point[] = []
  values.forEach((value, index) => {
    if (value === null) {
      line = []
      return
    }
    if (line.length === 0) lines.push(line)
    // Constant values are drawn through the middle.
    const share = span === 0 ? 0.5 : (value - low) / span
    line.push([round(index * step), round(edge + (1 - share) * (height - 2 * edge))])
  })
  return lines
}

/** Keeps the stroke inside the box. */
const edge = 2

function round(value: number): number {
  return Math.round(value * 100) / 100
}
