import { inColorOf, styled, withSymbol } from '../terminal/style.ts'

/** Columns and facts with words for a state, which get a symbol and a colour on a terminal. */
const stateNames = ['status', 'state', 'result', 'last', 'delivery', '']

/** Formats rows below their headings; each column is as wide as its widest cell. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const isState = headings.map((heading) => stateNames.includes(heading))
  const states = rows.map((row) => row.map(oneLine))
  const cells = states.map((row) => row.map((cell, column) => (isState[column] ? withSymbol(cell) : cell)))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => row[column]?.length ?? 0)),
  )
  // The last column is not padded: a line must not end with spaces.
  const padded = (row: readonly string[]) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
  const head = styled(
    'bold',
    padded(headings.map((heading) => heading.toUpperCase()))
      .join('  ')
      .trimEnd(),
  )
  const lines = cells.map((row, index) =>
    padded(row)
      .map((cell, column) => (isState[column] ? inColorOf(states[index]?.[column] ?? '', cell) : cell))
      .join('  ')
      .trimEnd(),
  )
  return [head, ...lines].join('\n')
}

/** Formats one `name: value` line per pair; empty values are left out. */
export function facts(pairs: Record<string, unknown>): string {
  const present = Object.entries(pairs).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  )
  const width = Math.max(0, ...present.map(([name]) => name.length))
  return present
    .map(([name, value]) => {
      const text = oneLine(String(value))
      const shown = stateNames.includes(name) ? inColorOf(text, withSymbol(text)) : text
      return `${styled('dim', `${name}:`.padEnd(width + 1))}  ${shown}`
    })
    .join('\n')
}

/** Collapses whitespace and removes control characters, which could move the cursor of the terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/\p{Cc}/gu, '')
}

/** Removes control characters other than line breaks and tabs. */
export function plainText(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '')
}

/** "≈" marks an estimate, such as the price of a family for a model without a row in the price table. */
export function money(dollars: number | null | undefined, isEstimated = false): string {
  if (dollars === null || dollars === undefined) return ''
  return `${isEstimated ? '≈' : ''}$${dollars.toFixed(4)}`
}

export function seconds(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '' : `${(ms / 1000).toFixed(1)} s`
}

/** Formats a time in the local zone, to the second. */
export function time(timestamp: string | null | undefined): string {
  if (!timestamp) return ''
  const at = new Date(timestamp)
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  const day = `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`
  return `${day} ${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}:${twoDigits(at.getSeconds())}`
}
