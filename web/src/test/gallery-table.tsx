import { Ellipsis } from 'lucide-react'
import { useState } from 'react'
import { StatusDot } from '../ui/badge.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Cost } from '../ui/cost.tsx'
import { type DataColumn, DataTable } from '../ui/data-table.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Menu } from '../ui/menu.tsx'
import { Duration, RelativeTime } from '../ui/time.tsx'

type Run = {
  id: string
  agent: string
  isFailed: boolean
  at: number
  ms: number
  usd: number
  cause: string
}

const start = Date.now()
const runs: Run[] = Array.from({ length: 10_000 }, (_, index) => ({
  id: `run-${index}`,
  agent: ['night-watch', 'scout', 'librarian', 'mail-clerk'][index % 4] ?? '',
  isFailed: index % 7 === 3,
  at: start - index * 97_000,
  ms: 900 + ((index * 7919) % 400_000),
  usd: ((index * 31) % 900) / 1000,
  cause: ['schedule', 'person', 'webhook'][index % 3] ?? '',
}))

const columns: DataColumn<Run>[] = [
  { id: 'id', header: 'Execution', cell: (run) => run.id, sortValue: (run) => run.id, width: 110 },
  {
    id: 'state',
    header: 'State',
    cell: (run) =>
      run.isFailed ? (
        <StatusDot tone="danger" label="Failed" />
      ) : (
        <StatusDot tone="success" label="Success" />
      ),
    width: 110,
  },
  { id: 'agent', header: 'Agent', cell: (run) => run.agent, sortValue: (run) => run.agent, priority: 2 },
  { id: 'cause', header: 'Cause', cell: (run) => run.cause, priority: 3, width: 100 },
  {
    id: 'at',
    header: 'Started',
    cell: (run) => <RelativeTime at={run.at} />,
    sortValue: (run) => run.at,
    priority: 2,
    width: 120,
  },
  {
    id: 'ms',
    header: 'Duration',
    cell: (run) => <Duration ms={run.ms} />,
    sortValue: (run) => run.ms,
    align: 'end',
    priority: 3,
    width: 100,
  },
  {
    id: 'usd',
    header: 'Cost',
    cell: (run) => <Cost usd={run.usd} />,
    sortValue: (run) => run.usd,
    align: 'end',
    priority: 2,
    width: 90,
  },
  {
    id: 'menu',
    header: 'Actions',
    hideHeader: true,
    cell: (run) => (
      <Menu
        trigger={<IconButton size="sm" label={`Actions of ${run.id}`} icon={<Ellipsis aria-hidden />} />}
        items={[{ label: 'Retry', onSelect: () => {} }]}
      />
    ),
    align: 'end',
    width: 56,
    priority: 3,
  },
]

export function TablePart() {
  const [selected, setSelected] = useState(new Set<string>())
  const [opened, setOpened] = useState('')
  const [endings, setEndings] = useState(0)
  return (
    <section aria-label="Tables" className="flex flex-col gap-4">
      <p data-testid="table-facts" className="text-xs text-muted">
        opened {opened || 'none'}, selected {selected.size}, endings {endings}
      </p>
      <Button className="self-start">Before</Button>
      <DataTable
        label="Executions"
        columns={columns}
        rows={runs}
        rowKey={(run) => run.id}
        rowHref={(run) => `#${run.id}`}
        onOpenRow={(run) => setOpened(run.id)}
        selected={selected}
        onSelectedChange={setSelected}
        columnChoice
        height={480}
        onEndReached={() => setEndings((count) => count + 1)}
      />
      <DataTable label="Loading" columns={columns} rows={[]} rowKey={(run) => run.id} isLoading />
      <DataTable
        label="Empty"
        columns={columns}
        rows={[]}
        rowKey={(run) => run.id}
        empty={<EmptyState title="No executions" description="Runs of agents appear here." />}
      />
    </section>
  )
}
