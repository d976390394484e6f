import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { Playbook } from '@roost/contracts/runs/playbooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { BookOpenCheck, Play } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { AgentStopped } from '../agents/agent-stopped.tsx'
import { PlaybookDialog } from './playbook-dialog.tsx'
import { playbooksQuery } from './queries.ts'

/** The skills of the workspace that users can run. */
export function PlaybooksTab({ agent }: { agent: AgentDetails }) {
  const isRunning = agent.status === 'running'
  const playbooks = useQuery({ ...playbooksQuery(useApi(), agent.name), enabled: isRunning })
  const [chosen, setChosen] = useState<Playbook | null>(null)
  const columns = useMemo(() => columnsOf(setChosen), [])
  if (!isRunning) return <AgentStopped agent={agent} purpose="view and run its playbooks" />
  return (
    <section aria-label="Playbooks" className="min-w-0">
      <CardHeader title="Playbooks" description="Skills of the workspace that you can run directly." />
      {playbooks.isError && !playbooks.data ? (
        <ErrorState
          title="Could not load the playbooks"
          error={playbooks.error}
          onRetry={() => void playbooks.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label={`Playbooks of ${agent.name}`}
          columns={columns}
          rows={playbooks.data ?? []}
          rowKey={(row) => row.name}
          rowHeight={52}
          isLoading={playbooks.isPending}
          empty={<NoPlaybook name={agent.name} />}
        />
      )}
      <PlaybookDialog name={agent.name} playbook={chosen} onClose={() => setChosen(null)} />
    </section>
  )
}

function NoPlaybook({ name }: { name: string }) {
  return (
    <EmptyState
      icon={<BookOpenCheck aria-hidden />}
      title="No playbooks yet"
      description="Every skill of the workspace is a playbook, unless it is reserved for the agent."
      action={
        <Link to="/agents/$name" params={{ name }} search={{ tab: 'skills' }} className={buttonClass()}>
          Go to skills
        </Link>
      }
    />
  )
}

function columnsOf(run: (playbook: Playbook) => void): DataColumn<Playbook>[] {
  return [
    {
      id: 'name',
      header: 'Playbook',
      grow: true,
      width: 160,
      sortValue: (row) => (row.title ?? row.name).toLowerCase(),
      cell: (row) => (
        <span className="flex min-w-0 flex-col">
          <span className="truncate font-medium" title={row.title ?? row.name}>
            {row.title ?? row.name}
          </span>
          {row.description && (
            <span className="truncate font-normal text-muted text-xs" title={row.description}>
              {row.description}
            </span>
          )}
        </span>
      ),
    },
    {
      id: 'hint',
      header: 'Input',
      width: 180,
      priority: 3,
      cell: (row) =>
        row.argument_hint ? (
          <code className="truncate text-xs" title={row.argument_hint}>
            {row.argument_hint}
          </code>
        ) : (
          <span className="text-muted">any</span>
        ),
    },
    {
      id: 'automation',
      header: 'Automation',
      width: 110,
      priority: 2,
      sortValue: (row) => row.automation ?? '',
      cell: (row) => row.automation ?? <span className="text-muted">–</span>,
    },
    {
      id: 'exposed',
      header: 'Connector',
      width: 110,
      priority: 3,
      cell: (row) =>
        row.exposed ? <Badge tone="info">exposed</Badge> : <span className="text-muted">not exposed</span>,
    },
    {
      id: 'run',
      header: 'Run',
      width: 90,
      cell: (row) => (
        <Button
          size="sm"
          icon={<Play aria-hidden />}
          onClick={() => run(row)}
          aria-label={`Run ${row.title ?? row.name}`}
        >
          Run
        </Button>
      ),
    },
  ]
}
