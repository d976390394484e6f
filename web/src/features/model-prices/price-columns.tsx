import { formatExactCost } from '../../lib/format.ts'
import { Badge } from '../../ui/badge.tsx'
import type { DataColumn } from '../../ui/data-table.tsx'
import type { PriceRow } from './price-rows.ts'

type Column = DataColumn<PriceRow>

const amount = (
  id: 'input' | 'output' | 'cacheRead' | 'cacheWrite',
  header: string,
  priority: 1 | 2 | 3,
): Column => ({
  id,
  header,
  width: 96,
  align: 'end',
  ...(priority === 1 ? {} : { priority }),
  cell: (row) => <span data-numeric>{formatExactCost(row[id])}</span>,
})

export const priceColumns: readonly Column[] = [
  {
    id: 'model',
    header: 'Model',
    grow: true,
    width: 220,
    cell: (row) => (
      <span className="flex items-center gap-1.5">
        <span className="truncate font-mono text-xs">{row.model}</span>
        {row.from !== null && <Badge>from {row.from}</Badge>}
        {row.isFamily && <Badge tone="warning">Family, estimated</Badge>}
      </span>
    ),
  },
  { id: 'provider', header: 'Provider', width: 100, priority: 3, cell: (row) => row.provider },
  amount('input', 'Input', 1),
  amount('output', 'Output', 1),
  amount('cacheRead', 'Cache read', 2),
  amount('cacheWrite', 'Cache write', 2),
  {
    id: 'origin',
    header: 'Table',
    width: 96,
    priority: 2,
    cell: (row) => (
      <Badge tone={row.isImported ? 'info' : 'neutral'}>{row.isImported ? 'Imported' : 'Built in'}</Badge>
    ),
  },
]
