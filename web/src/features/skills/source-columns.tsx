import type { SkillSource } from '@roost/contracts/skills/sources'
import { Ellipsis, Pencil, RefreshCw, Trash2 } from 'lucide-react'
import { Badge, StatusDot } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import type { DataColumn } from '../../ui/data-table.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Switch } from '../../ui/switch.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { sourceStatusWords } from './words.ts'

/** Users who are not admins do not get the URL. */
export type SourceRow = Omit<SkillSource, 'url'> & { url: string | null }

export type SourceActions = {
  sync: (id: string) => void
  toggle: (change: { id: string; enabled: boolean }) => void
  edit: (row: SourceRow) => void
  remove: (row: SourceRow) => void
  /** The sources that this page is syncing. */
  syncing: ReadonlySet<string>
}

/** Null: read-only. */
export function sourceColumns(actions: SourceActions | null): DataColumn<SourceRow>[] {
  const columns: (DataColumn<SourceRow> | false)[] = [
    { id: 'name', header: 'Source', grow: true, width: 130, cell: (row) => <SourceName row={row} /> },
    {
      id: 'state',
      header: 'Status',
      width: 150,
      cell: (row) =>
        actions?.syncing.has(row.id) ? (
          <StatusDot tone="accent" label="Syncing" pulse />
        ) : (
          <SourceState row={row} />
        ),
    },
    {
      id: 'ref',
      header: 'Tracks',
      width: 150,
      priority: 3,
      cell: (row) => (
        <code className="text-xs" title={`${row.ref_type} ${row.ref}`}>
          {row.ref}
          {row.last_commit_sha && <span className="text-faint"> {row.last_commit_sha.slice(0, 7)}</span>}
        </code>
      ),
    },
    {
      id: 'skills',
      header: 'Skills',
      width: 64,
      align: 'end',
      priority: 2,
      cell: (row) => row.skill_count,
    },
    {
      id: 'priority',
      header: 'Priority',
      width: 76,
      align: 'end',
      priority: 2,
      cell: (row) => row.priority,
    },
    {
      id: 'synced',
      header: 'Last sync',
      width: 110,
      priority: 2,
      cell: (row) => <RelativeTime at={row.last_sync_at} />,
    },
    {
      id: 'enabled',
      header: 'Enabled',
      width: 84,
      cell: (row) => (
        <Switch
          label={`Enable source ${row.name}`}
          checked={row.enabled}
          disabled={actions === null}
          onCheckedChange={(enabled) => actions?.toggle({ id: row.id, enabled })}
        />
      ),
    },
    actions !== null && {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      width: 60,
      align: 'end',
      cell: (row) => <SourceMenu row={row} actions={actions} />,
    },
  ]
  return columns.filter((column) => column !== false)
}

function SourceName({ row }: { row: SourceRow }) {
  return (
    <span className="flex min-w-0 flex-col leading-4.5">
      <span className="flex min-w-0 items-center gap-1.5">
        <span className="max-w-2/3 shrink-0 truncate font-medium" title={row.name}>
          {row.name}
        </span>
        {row.is_default && <Badge className="min-w-0">bundled</Badge>}
        {row.layout_conflict && (
          <span title={`The repository has several layouts. Roost uses ${row.skills_root ?? 'the first'}.`}>
            <Badge tone="warning">several layouts</Badge>
          </span>
        )}
      </span>
      <span className="truncate text-muted text-xs" title={row.url ?? undefined}>
        {row.url ?? row.ref}
      </span>
    </span>
  )
}

function SourceState({ row }: { row: SourceRow }) {
  const words = sourceStatusWords[row.last_sync_status]
  return (
    <span title={row.last_error ?? undefined} className="flex min-w-0">
      <StatusDot {...words} />
    </span>
  )
}

function SourceMenu({ row, actions }: { row: SourceRow; actions: SourceActions }) {
  return (
    <Menu
      trigger={<IconButton size="sm" label={`Actions for ${row.name}`} icon={<Ellipsis aria-hidden />} />}
      items={[
        {
          label: 'Sync now',
          icon: <RefreshCw aria-hidden />,
          disabled: !row.enabled || actions.syncing.has(row.id),
          onSelect: () => actions.sync(row.id),
        },
        { label: 'Edit', icon: <Pencil aria-hidden />, onSelect: () => actions.edit(row) },
        !row.is_default && {
          label: 'Remove…',
          icon: <Trash2 aria-hidden />,
          danger: true,
          onSelect: () => actions.remove(row),
        },
      ]}
    />
  )
}
