import { systemAgentName } from '@roost/contracts/agents/agent'
import type { AgentPermissions, CallableAgent } from '@roost/contracts/agents/permissions'
import { Bot } from 'lucide-react'
import { useMemo, useState } from 'react'
import { plural } from '../../lib/format.ts'
import { AgentAvatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Switch } from '../../ui/switch.tsx'
import { AgentStatus } from '../agents/agent-status.tsx'
import { useEdge, useRow } from './changes.ts'
import { rowOf } from './edges.ts'

type Shown = 'all' | 'permitted'

const choices = [
  { value: 'all', label: 'All' },
  { value: 'permitted', label: 'Permitted' },
] as const

/** The other agents, each with a permission switch. */
export function CallableList({ permissions, mayEdit }: { permissions: AgentPermissions; mayEdit: boolean }) {
  const name = permissions.source_agent
  const [q, setQ] = useState('')
  const [shown, setShown] = useState<Shown>('all')
  const { mutate: setEdge } = useEdge()
  const replace = useRow(name)

  const all = useMemo(() => rowOf(permissions), [permissions])
  const rows = all.filter(
    (agent) => agent.name.includes(q.trim().toLowerCase()) && (shown === 'all' || agent.permitted),
  )
  const columns = useMemo(
    () => columnsOf(mayEdit, (target, permitted) => setEdge({ source: name, target, permitted })),
    [mayEdit, name, setEdge],
  )
  const permitted = all.filter((agent) => agent.permitted)

  function setShownRows(isOn: boolean): void {
    const picked = new Set((isOn ? rows.filter(isOrdinary) : rows).map((agent) => agent.name))
    const unlisted = permitted.map((agent) => agent.name).filter((other) => !picked.has(other))
    const count = plural(picked.size, 'agent')
    replace.mutate({
      names: new Set(isOn ? [...unlisted, ...picked] : unlisted),
      message: isOn ? `Permission to call ${count} granted.` : `Permission to call ${count} revoked.`,
    })
  }

  if (all.length === 0) {
    return (
      <EmptyState
        icon={<Bot aria-hidden />}
        title="No other agents"
        description="Create a second agent to grant permissions between them."
        className="rounded-lg border border-line bg-surface"
      />
    )
  }
  return (
    <div>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchInput label="Search agents" value={q} onValueChange={setQ} className="w-full sm:w-56" />
        <Segmented label="Filter" options={choices} value={shown} onValueChange={setShown} />
        <span className="text-muted text-xs" role="status">
          {permitted.length} of {all.length}
        </span>
        {mayEdit && rows.length > 1 && (
          <span className="ml-auto flex gap-1">
            <Button
              size="sm"
              variant="ghost"
              disabled={rows.filter(isOrdinary).every((agent) => agent.permitted)}
              onClick={() => setShownRows(true)}
            >
              Permit all listed
            </Button>
            <Button
              size="sm"
              variant="ghost"
              disabled={!rows.some((agent) => agent.permitted)}
              onClick={() => setShownRows(false)}
            >
              Revoke all listed
            </Button>
          </span>
        )}
      </div>
      <DataTable
        label={`Agents that ${name} may call`}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.name}
        height="auto"
        empty={
          <EmptyState
            title={q ? 'No matching agents' : 'No permitted agents yet'}
            action={
              <Button
                onClick={() => {
                  setQ('')
                  setShown('all')
                }}
              >
                Show all agents
              </Button>
            }
          />
        }
      />
    </div>
  )
}

/** The system agent has admin permissions, so it is only permitted individually, never in bulk. */
function isOrdinary({ name }: CallableAgent): boolean {
  return name !== systemAgentName
}

function columnsOf(
  mayEdit: boolean,
  set: (target: string, permitted: boolean) => void,
): DataColumn<CallableAgent>[] {
  return [
    {
      id: 'name',
      header: 'Agent',
      grow: true,
      width: 140,
      sortValue: (row) => row.name,
      cell: (row) => (
        <span className="flex min-w-0 items-center gap-2">
          <AgentAvatar name={row.name} size="sm" />
          <span className="max-w-2/3 shrink-0 truncate" title={row.name}>
            {row.name}
          </span>
          {!isOrdinary(row) && (
            <Badge tone="warning" className="min-w-0">
              has admin permissions
            </Badge>
          )}
        </span>
      ),
    },
    {
      id: 'status',
      header: 'Status',
      width: 110,
      priority: 2,
      sortValue: (row) => row.status,
      cell: (row) => <AgentStatus status={row.status} />,
    },
    {
      id: 'permitted',
      header: 'May call',
      width: 100,
      align: 'end',
      sortValue: (row) => (row.permitted ? 1 : 0),
      cell: (row) => (
        <Switch
          label={`May call ${row.name}`}
          checked={row.permitted}
          disabled={!mayEdit}
          onCheckedChange={(isOn) => set(row.name, isOn)}
        />
      ),
    },
  ]
}
