/** Formats rows below their headings; each column is as wide as its widest cell. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(oneLine))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => row[column]?.length ?? 0)),
  )
  return [headings.map((heading) => heading.toUpperCase()), ...cells]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Formats one `name: value` line per pair; empty values are left out. */
export function facts(pairs: Record<string, unknown>): string {
  const present = Object.entries(pairs).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  )
  const width = Math.max(0, ...present.map(([name]) => name.length))
  return present
    .map(([name, value]) => `${`${name}:`.padEnd(width + 1)}  ${oneLine(String(value))}`)
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
