/** Starts of cells that spreadsheets evaluate, also after blanks and in full width. */
const formula = /^[\t\r\n]|^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/

/** Formats a value by RFC 4180. An apostrophe keeps spreadsheets from evaluating a text. */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const inert = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

/** Formats one row with its line break. */
export function csvRow(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`
}
