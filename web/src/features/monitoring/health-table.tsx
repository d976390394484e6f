import type { AgentHealthRow } from '@roost/contracts/operations/monitoring'
import { useNavigate } from '@tanstack/react-router'
import { HeartPulse } from 'lucide-react'
import { formatBytes, plural } from '../../lib/format.ts'
import { StatusDot } from '../../ui/badge.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { beatWords, healthWords } from './words.ts'

type HealthTableProps = { rows: readonly AgentHealthRow[]; isLoading: boolean }

/** All accessible agents, worst health first. */
export function HealthTable({ rows, isLoading }: HealthTableProps) {
  const navigate = useNavigate()
  return (
    <DataTable
      label="Agent health"
      columns={columns}
      rows={rows}
      rowKey={({ name }) => name}
      rowHeight={52}
      rowHref={({ name }) => `/agents/${encodeURIComponent(name)}?tab=overview`}
      onOpenRow={({ name }) =>
        void navigate({ to: '/agents/$name', params: { name }, search: { tab: 'overview' } })
      }
      isLoading={isLoading}
      empty={
        <EmptyState
          icon={<HeartPulse aria-hidden />}
          title="No agents yet"
          description="The health of agents that you own or that are shared with you appears here."
        />
      }
    />
  )
}

const columns: readonly DataColumn<AgentHealthRow>[] = [
  {
    id: 'name',
    header: 'Agent',
    width: 150,
    sortValue: ({ name }) => name,
    cell: ({ name }) => <span className="block truncate font-medium">{name}</span>,
  },
  {
    id: 'status',
    header: 'Health',
    width: 120,
    cell: ({ status }) => <StatusDot {...healthWords[status]} />,
  },
  {
    id: 'issues',
    header: 'Issues',
    width: 240,
    grow: true,
    priority: 2,
    cell: ({ issues: [first, ...more] }) =>
      first === undefined ? (
        <span className="text-faint">–</span>
      ) : (
        <span className="flex min-w-0 flex-col" title={[first, ...more].join('\n')}>
          <span className="truncate">{first}</span>
          {more.length > 0 && (
            <span className="text-muted text-xs">and {plural(more.length, 'more issue')}</span>
          )}
        </span>
      ),
  },
  {
    id: 'beat',
    header: 'Last heartbeat',
    width: 150,
    priority: 2,
    sortValue: ({ last_heartbeat_age_seconds }) => last_heartbeat_age_seconds,
    cell: (row) => <span className="text-muted">{beatWords(row)}</span>,
  },
  {
    id: 'runs',
    header: 'Runs',
    width: 72,
    align: 'end',
    priority: 3,
    sortValue: ({ active_executions }) => active_executions,
    cell: ({ active_executions }) => <span data-numeric>{active_executions}</span>,
  },
  {
    id: 'memory',
    header: 'Memory',
    width: 96,
    align: 'end',
    priority: 3,
    sortValue: ({ memory_mb }) => memory_mb,
    cell: ({ memory_mb: mb }) =>
      mb === null ? (
        <span className="text-faint">–</span>
      ) : (
        <span data-numeric>{formatBytes(mb * 1024 * 1024)}</span>
      ),
  },
]
