import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { formatPercent } from '../../lib/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Cost } from '../../ui/cost.tsx'
import { type DataColumn, DataTable, type Sort } from '../../ui/data-table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { AgentStatus } from './agent-status.tsx'
import { BulkTags } from './bulk-tags.tsx'
import type { FleetRow } from './fleet-rows.ts'
import { NoMatch } from './no-agents.tsx'
import { useFleetFilter } from './use-fleet-filter.ts'

/** Most important first: narrow screens drop the last columns. */
const columns: DataColumn<FleetRow>[] = [
  {
    id: 'name',
    header: 'Agent',
    grow: true,
    width: 130,
    sortValue: (row) => row.title.toLowerCase(),
    cell: (row) => (
      <span className="flex min-w-0 items-center gap-2">
        <span className="truncate font-medium">{row.title}</span>
        {row.label ? <span className="truncate text-faint">{row.name}</span> : null}
        {row.is_system ? <Badge>system</Badge> : null}
        {row.is_shared && !row.is_owner ? <Badge tone="info">shared</Badge> : null}
      </span>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    width: 110,
    sortValue: (row) => row.status,
    cell: (row) => <AgentStatus status={row.status} busy={row.running > 0} />,
  },
  {
    id: 'last_run',
    header: 'Last run',
    width: 120,
    priority: 2,
    sortValue: (row) => (row.lastRunAt ? Date.parse(row.lastRunAt) : null),
    cell: (row) =>
      row.lastRunAt ? <RelativeTime at={row.lastRunAt} /> : <span className="text-faint">never</span>,
  },
  {
    id: 'success',
    header: 'Success',
    width: 90,
    align: 'end',
    priority: 2,
    sortValue: (row) => row.successRate,
    cell: (row) => (row.successRate === null ? '–' : formatPercent(row.successRate)),
  },
  {
    id: 'cost',
    header: 'Cost, 24 h',
    width: 112,
    align: 'end',
    priority: 2,
    sortValue: (row) => row.cost,
    cell: (row) => <Cost usd={row.cost} isEstimated={row.isCostEstimated} />,
  },
  {
    id: 'runs',
    header: 'Runs, 24 h',
    width: 112,
    align: 'end',
    priority: 3,
    sortValue: (row) => row.runs,
    cell: (row) => row.runs,
  },
  {
    id: 'runtime',
    header: 'Runtime',
    width: 120,
    priority: 3,
    sortValue: (row) => row.runtime,
    cell: (row) => row.runtime,
  },
  {
    id: 'cpu',
    header: 'CPU',
    width: 80,
    align: 'end',
    priority: 3,
    sortValue: (row) => row.cpuPercent,
    cell: (row) => (row.cpuPercent === null ? '–' : formatPercent(row.cpuPercent / 100)),
  },
  {
    id: 'memory',
    header: 'Memory',
    width: 95,
    align: 'end',
    priority: 3,
    sortValue: (row) => row.memoryMb,
    cell: (row) => (row.memoryMb === null ? '–' : `${Math.round(row.memoryMb)} MB`),
  },
  {
    id: 'tags',
    header: 'Tags',
    width: 160,
    priority: 3,
    cell: (row) => (
      <span className="flex gap-1 overflow-hidden">
        {row.tags.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
      </span>
    ),
  },
  {
    id: 'owner',
    header: 'Owner',
    width: 160,
    hidden: true,
    sortValue: (row) => row.owner,
    cell: (row) => row.owner,
  },
]

/** The fleet as a sortable table with selection. The sort order is in the address. */
export function FleetTable({ rows, isLoading }: { rows: FleetRow[]; isLoading: boolean }) {
  const navigate = useNavigate()
  const { sort, setSort, clear } = useSort()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const chosen = useMemo(() => rows.filter((row) => selected.has(row.name)), [rows, selected])
  const mayEditAny = useMemo(() => rows.some(mayEdit), [rows])
  return (
    <>
      <BulkTags agents={chosen} onDone={() => setSelected(new Set())} />
      <DataTable
        label="Agents"
        columns={columns}
        rows={rows}
        rowKey={(row) => row.name}
        rowLabel={(row) => row.title}
        rowHref={(row) => `/agents/${row.name}`}
        onOpenRow={(row) => void navigate({ to: '/agents/$name', params: { name: row.name } })}
        sort={sort}
        onSortChange={setSort}
        selected={selected}
        {...(mayEditAny ? { onSelectedChange: setSelected, maySelect: mayEdit } : {})}
        columnChoice="fleet"
        isLoading={isLoading}
        empty={<NoMatch onClear={clear} />}
      />
    </>
  )
}

/** Only the owner and admins can act on an agent. */
const mayEdit = (row: FleetRow) => row.may_edit

/** The order in the address: `cost` or `-cost`; by name when missing. */
function useSort() {
  const { sort: text, change, clear } = useFleetFilter()
  const sort: Sort = text
    ? { id: text.replace(/^-/, ''), desc: text.startsWith('-') }
    : { id: 'name', desc: false }
  const setSort = (next: Sort | null) => change({ sort: next ? `${next.desc ? '-' : ''}${next.id}` : '' })
  return { sort, setSort, clear }
}
