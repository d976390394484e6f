import type { BlockOf } from '@roost/contracts/conversations/canvas-blocks'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { ReportTableView } from '../reports/report-table.tsx'

/** Tables up to this length render completely, so that they print; longer ones render only visible rows. */
const maxPlainRows = 500

export function TableBlock({ columns, rows, label }: BlockOf<'table'>['payload'] & { label: string }) {
  if (rows.length > maxPlainRows) return <ReportTableView table={{ columns, rows }} label={label} />
  const isNumeric = columns.map(
    (_, place) => rows.length > 0 && rows.every((cells) => typeof cells[place] === 'number'),
  )
  const align = (place: number) => (isNumeric[place] ? 'text-right' : 'text-left')
  return (
    <ScrollRegion label={label} className="-mx-1 overflow-x-auto px-1">
      <table className="w-full border-collapse text-sm">
        <caption className="sr-only">{label}</caption>
        <thead>
          <tr className="border-b border-line-strong">
            {columns.map((name, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns are identified only by their position
              <th key={place} scope="col" className={`px-2 py-1.5 font-medium text-muted ${align(place)}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified only by their position
            <tr key={index} className="border-b last:border-0">
              {cells.map((cell, place) => (
                <td
                  // biome-ignore lint/suspicious/noArrayIndexKey: see above
                  key={place}
                  data-numeric={isNumeric[place] || undefined}
                  className={`px-2 py-1.5 align-top ${align(place)}`}
                >
                  {wordOf(cell)}
                </td>
              ))}
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={columns.length} className="px-2 py-6 text-center text-muted">
                No rows
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </ScrollRegion>
  )
}

function wordOf(cell: string | number | boolean | null): string {
  if (cell === null) return ''
  if (typeof cell === 'boolean') return cell ? 'Yes' : 'No'
  return typeof cell === 'number' ? cell.toLocaleString('en', { maximumFractionDigits: 4 }) : cell
}
