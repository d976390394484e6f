import { useMemo } from 'react'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { type ReportTable, textOf } from './shapes.ts'

type Row = { index: number; cells: unknown[] }

type ReportTableViewProps = { table: ReportTable; label?: string; height?: 'fill' | 'auto' }

/** A table of any length that renders only visible rows. */
export function ReportTableView({ table, label = 'Report table', height = 'auto' }: ReportTableViewProps) {
  const columns = useMemo(() => table.columns.map((name, place) => columnOf(table, name, place)), [table])
  const rows = useMemo(() => table.rows.map((cells, index): Row => ({ index, cells })), [table])
  return (
    <DataTable
      label={label}
      columns={columns}
      rows={rows}
      rowKey={({ index }) => String(index)}
      rowHeight={36}
      height={height}
    />
  )
}

function columnOf({ rows }: ReportTable, name: string, place: number): DataColumn<Row> {
  const isNumeric = rows.length > 0 && rows.slice(0, 100).every((cells) => typeof cells[place] === 'number')
  return {
    id: `column-${place}`,
    header: name || `Column ${place + 1}`,
    width: isNumeric ? 110 : 180,
    grow: place === 0,
    ...(isNumeric ? { align: 'end' as const } : {}),
    sortValue: ({ cells }) => {
      const value = cells[place]
      return typeof value === 'number' ? value : textOf(value) || null
    },
    cell: ({ cells }) => {
      const text = textOf(cells[place])
      return (
        <span className="block truncate" title={text} data-numeric={isNumeric || undefined}>
          {text}
        </span>
      )
    },
  }
}
