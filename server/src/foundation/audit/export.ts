import { AuditLogEntry } from '@roost/contracts/foundation/audit'
import { csvRow } from '@roost/contracts/kit/csv'

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
