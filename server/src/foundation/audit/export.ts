import { AuditLogEntry } from '@roost/contracts/foundation/audit'

export type ExportFormat = 'json' | 'csv'
export const exportTypes = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
} as const satisfies Record<ExportFormat, string>

/** Yields the text of an export file in pieces. */
export async function* asFile(
  batches: AsyncIterable<AuditLogEntry[]>,
  format: ExportFormat,
): AsyncGenerator<string> {
  if (format === 'csv') {
    yield csvRow([...columns])
    for await (const entries of batches) {
      yield entries.map((entry) => csvRow(columns.map((column) => entry[column]))).join('')
    }
    return
  }
  let separator = '[\n'
  for await (const entries of batches) {
    for (const entry of entries) {
      yield `${separator}${JSON.stringify(entry)}`
      separator = ',\n'
    }
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n'
}

/** In the order of the schema. */
const columns = Object.keys(AuditLogEntry.shape) as (keyof AuditLogEntry)[]

function csvRow(values: unknown[]): string {
  return `${values.map(cell).join(',')}\r\n`
}

/** Starts of cells that spreadsheets evaluate, also after blanks and in full width. */
const formula = /^[\t\r\n]|^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/

/** Formats a value by RFC 4180. An apostrophe keeps spreadsheets from evaluating a text. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const inert = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}
