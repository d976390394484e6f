import type { AuditLogEntry } from '@roost/contracts/foundation/audit'
import { Badge, StatusDot } from '../../ui/badge.tsx'
import type { DataColumn } from '../../ui/data-table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { actionLabel, actorOf, outcomeLabels, outcomeOf, typeLabels } from './words.ts'

export function auditColumns(names: ReadonlyMap<string, string>): DataColumn<AuditLogEntry>[] {
  return [
    {
      id: 'action',
      header: 'Action',
      grow: true,
      width: 150,
      cell: (row) => (
        <span className="flex min-w-0 items-center gap-1.5" title={row.endpoint ?? undefined}>
          <span className="truncate font-medium">{actionLabel(row.event_action)}</span>
          {outcomeOf(row) !== 'ok' && <OutcomeMark entry={row} />}
        </span>
      ),
    },
    {
      id: 'type',
      header: 'Subject',
      width: 150,
      priority: 3,
      cell: (row) => <span className="text-muted">{typeLabels[row.event_type]}</span>,
    },
    { id: 'target', header: 'Target', width: 190, priority: 2, cell: (row) => <Target entry={row} /> },
    {
      id: 'actor',
      header: 'Actor',
      width: 190,
      priority: 2,
      cell: (row) => <Actor entry={row} names={names} />,
    },
    { id: 'outcome', header: 'Outcome', width: 110, priority: 2, cell: (row) => <Outcome entry={row} /> },
    { id: 'ip', header: 'IP address', width: 140, hidden: true, cell: (row) => row.actor_ip ?? <Dash /> },
    { id: 'source', header: 'Source', width: 110, hidden: true, cell: (row) => row.source },
    { id: 'time', header: 'Time', width: 110, cell: (row) => <RelativeTime at={row.timestamp} /> },
  ]
}

/** Shows the outcome when the outcome column is hidden. */
function OutcomeMark({ entry }: { entry: Pick<AuditLogEntry, 'status'> }) {
  return (
    <span className="shrink-0">
      <Outcome entry={entry} compact />
    </span>
  )
}

export function Outcome({ entry, compact }: { entry: Pick<AuditLogEntry, 'status'>; compact?: boolean }) {
  const outcome = outcomeOf(entry)
  const tone = outcome === 'ok' ? 'success' : outcome === 'refused' ? 'warning' : 'danger'
  return <StatusDot tone={tone} label={outcomeLabels[outcome]} compact={compact} />
}

function Target({ entry }: { entry: AuditLogEntry }) {
  if (!entry.target_id) return <Dash />
  return (
    <span title={`${entry.target_type?.replaceAll('_', ' ')}: ${entry.target_id}`}>
      {entry.target_type !== 'agent' && (
        <span className="text-muted">{entry.target_type?.replaceAll('_', ' ')} </span>
      )}
      {entry.target_id}
    </span>
  )
}

function Actor({ entry, names }: { entry: AuditLogEntry; names: ReadonlyMap<string, string> }) {
  const who = actorOf(entry, (id) => names.get(id))
  return (
    <span className="flex min-w-0 items-center gap-1.5" title={entry.actor_email ?? who}>
      <span className="max-w-2/3 shrink-0 truncate">{who}</span>
      {entry.mcp_key_name && <Badge className="min-w-0">{entry.mcp_key_name}</Badge>}
    </span>
  )
}

function Dash() {
  return (
    <span className="text-faint">
      <span aria-hidden>–</span>
      <span className="sr-only">none</span>
    </span>
  )
}
