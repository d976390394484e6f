import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { formatPercent } from '../../lib/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Cost } from '../../ui/cost.tsx'
import { type DataColumn, DataTable, type Sort } from '../../ui/data-table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useRowSelection } from '../../ui/use-row-selection.ts'
import { AgentSelection } from './agent-selection.tsx'
import { AgentStatus } from './agent-status.tsx'
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
  const { filter, sort, setSort, clear } = useSort()
  const selection = useRowSelection(rows, nameOf, JSON.stringify(filter))
  const mayEditAny = useMemo(() => rows.some((row) => row.may_edit), [rows])
  return (
    <>
      <AgentSelection selection={selection} />
      <DataTable
        label="Agents"
        columns={columns}
        rows={rows}
        rowKey={nameOf}
        rowLabel={(row) => row.title}
        rowHref={(row) => `/agents/${row.name}`}
        onOpenRow={(row) => void navigate({ to: '/agents/$name', params: { name: row.name } })}
        sort={sort}
        onSortChange={setSort}
        selected={selection.selected}
        whyNotSelectable={whyNotSelectable}
        {...(mayEditAny ? { onSelectedChange: selection.setSelected } : {})}
        columnChoice="fleet"
        isLoading={isLoading}
        empty={<NoMatch onClear={clear} />}
      />
    </>
  )
}

const nameOf = (row: FleetRow) => row.name

/** Most actions on several agents are the owner's. */
function whyNotSelectable(row: FleetRow): string | null {
  if (row.is_system) return 'The platform manages the system agent. Open its page to change it.'
  return row.may_edit ? null : 'Only the owner and admins can change the agent.'
}

/** The order in the address: `cost` or `-cost`; by name when missing. */
function useSort() {
  const { filter, sort: text, change, clear } = useFleetFilter()
  const sort: Sort = text
    ? { id: text.replace(/^-/, ''), desc: text.startsWith('-') }
    : { id: 'name', desc: false }
  const setSort = (next: Sort | null) => change({ sort: next ? `${next.desc ? '-' : ''}${next.id}` : '' })
  return { filter, sort, setSort, clear }
}
