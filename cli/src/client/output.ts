/** Rows under their headings, each column as wide as its widest cell. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) => row.map(oneLine))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...clean.map((row) => row[column]?.length ?? 0)),
  )
  return [headings.map((heading) => heading.toUpperCase()), ...clean]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Names and values under each other. */
export function facts(pairs: Record<string, unknown>): string {
  const shown = Object.entries(pairs).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  )
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${`${name}:`.padEnd(width + 1)}  ${oneLine(String(value))}`).join('\n')
}

/** What others wrote must not move the cursor of this terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/\p{Cc}/gu, '')
}

/** Text of an agent for a terminal: its lines stay, its control sequences do not. */
export function plainText(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '')
}

/** "≈" marks an estimate: the price table has no row for a model, so the price of its family applies. */
export function money(dollars: number | null | undefined, isEstimated = false): string {
  if (dollars === null || dollars === undefined) return ''
  return `${isEstimated ? '≈' : ''}$${dollars.toFixed(4)}`
}

export function seconds(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '' : `${(ms / 1000).toFixed(1)} s`
}

/** A time as it is in this zone, to the second. */
export function time(timestamp: string | null | undefined): string {
  if (!timestamp) return ''
  const at = new Date(timestamp)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}
