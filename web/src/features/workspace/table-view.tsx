import { useMemo } from 'react'
import { Banner } from '../../ui/banner.tsx'
import { ReportTableView } from '../reports/report-table.tsx'
import { mostColumns, mostRows, parseCsv } from './csv.ts'

/** Comma-separated values as a table. Cells are text: no formula of a spreadsheet is computed. */
export function TableView({ text, label }: { text: string; label: string }) {
  const table = useMemo(() => parseCsv(text), [text])
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col gap-3 p-4 pb-0">
      {table.isCut && (
        <Banner tone="info">
          At most {mostRows.toLocaleString('en')} rows and {mostColumns} columns are shown. The source has all
          of them.
        </Banner>
      )}
      <div className="min-h-0 flex-1">
        <ReportTableView table={table} label={label} height="fill" />
      </div>
    </div>
  )
}
