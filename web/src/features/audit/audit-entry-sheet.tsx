import type { AuditLogEntry } from '@roost/contracts/foundation/audit'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { Outcome } from './audit-columns.tsx'
import { type AuditSearch, noFilter } from './filter.ts'
import { auditEntryQuery } from './queries.ts'
import { actionLabel, actorLabels, actorOf, typeLabels } from './words.ts'

type EntryProps = {
  names: ReadonlyMap<string, string>
  change: (next: AuditSearch & { entry?: string | undefined }) => void
}

/** All fields of one entry. */
export function AuditEntrySheet({ id, names, change }: EntryProps & { id: string | null }) {
  const entry = useQuery({ ...auditEntryQuery(useApi(), id ?? ''), enabled: id !== null })
  return (
    <Sheet
      open={id !== null}
      onOpenChange={() => change({ entry: undefined })}
      title={entry.data ? actionLabel(entry.data.event_action) : 'Audit entry'}
      description={entry.data && typeLabels[entry.data.event_type]}
    >
      {entry.isError ? (
        <ErrorState
          title="Could not load the entry"
          error={entry.error}
          onRetry={() => void entry.refetch()}
        />
      ) : entry.data ? (
        <Entry entry={entry.data} names={names} change={change} />
      ) : (
        <Skeleton className="h-64" />
      )}
    </Sheet>
  )
}

function Entry({ entry, names, change }: EntryProps & { entry: AuditLogEntry }) {
  const who = actorOf(entry, (id) => names.get(id))
  const only = (part: AuditSearch) => change({ ...noFilter, ...part, entry: undefined })
  return (
    <div className="flex flex-col gap-5">
      <KeyValues
        items={[
          {
            label: 'Outcome',
            value: (
              <span className="flex flex-wrap items-center gap-2">
                <Outcome entry={entry} />
                {entry.status !== null && <span className="text-muted">{entry.status}</span>}
                {typeof entry.details.error === 'string' && <Badge>{entry.details.error}</Badge>}
              </span>
            ),
          },
          { label: 'Time', value: <ExactTime at={entry.timestamp} /> },
          {
            label: 'Actor',
            value: (
              <>
                {who}
                {who !== actorLabels[entry.actor_type] && (
                  <span className="text-muted"> · {actorLabels[entry.actor_type].toLowerCase()}</span>
                )}
              </>
            ),
          },
          entry.mcp_key_name !== null && {
            label: 'Key',
            value: `${entry.mcp_key_name} (${entry.mcp_scope?.replaceAll('_', ' ')})`,
          },
          { label: 'Target', value: entry.target_id && <Target entry={entry} /> },
          { label: 'Endpoint', value: entry.endpoint && <code className="text-xs">{entry.endpoint}</code> },
          { label: 'IP address', value: entry.actor_ip },
          {
            label: 'Request ID',
            value: entry.request_id && <code className="text-xs">{entry.request_id}</code>,
          },
          { label: 'Entry number', value: entry.id.toLocaleString('en') },
        ]}
      />
      <div className="flex flex-wrap gap-2">
        {entry.actor_id && (
          <Only onClick={() => only({ actor: entry.actor_id ?? undefined })}>Filter by this user</Only>
        )}
        {entry.mcp_key_id && (
          <Only onClick={() => only({ key: entry.mcp_key_id ?? undefined })}>Filter by this key</Only>
        )}
        {entry.target_type === 'agent' && entry.target_id && (
          <Only onClick={() => only({ agent: entry.target_id ?? undefined })}>Filter by this agent</Only>
        )}
        {entry.request_id && (
          <Only onClick={() => only({ request: entry.request_id ?? undefined })}>Filter by this request</Only>
        )}
        <Only onClick={() => only({ action: entry.event_action })}>Filter by this action</Only>
      </div>
      <CodeBlock language="json" title="Raw entry" code={JSON.stringify(entry, null, 2)} />
    </div>
  )
}

function Only({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Button size="sm" onClick={onClick}>
      {children}
    </Button>
  )
}

function Target({ entry: { target_type, target_id } }: { entry: AuditLogEntry }) {
  if (!target_id) return null
  if (target_type !== 'agent') return `${target_type?.replaceAll('_', ' ')}: ${target_id}`
  return (
    <Link to="/agents/$name" params={{ name: target_id }} className="break-all text-accent hover:underline">
      {target_id}
    </Link>
  )
}
