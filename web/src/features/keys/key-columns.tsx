import type { McpKey } from '@roost/contracts/identity/keys'
import { Ban, Ellipsis, Trash2 } from 'lucide-react'
import { formatNumber } from '../../lib/format.ts'
import { Badge, StatusDot } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import type { DataColumn } from '../../ui/data-table.tsx'
import { Menu } from '../../ui/menu.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import type { KeyEnding } from './key-actions.ts'
import { stateOf } from './key-rows.ts'
import { scopeWords } from './scopes.ts'

export function keyColumns(options: {
  showsOwner: boolean
  end: (ending: KeyEnding) => void
}): DataColumn<McpKey>[] {
  const columns: (DataColumn<McpKey> | false)[] = [
    {
      id: 'name',
      header: 'Key',
      grow: true,
      width: 150,
      sortValue: (row) => row.name.toLowerCase(),
      cell: (row) => <KeyName row={row} />,
    },
    {
      id: 'scope',
      header: 'Scope',
      width: 130,
      priority: 2,
      sortValue: (row) => row.scope,
      cell: (row) => <Badge>{scopeWords[row.scope].label}</Badge>,
    },
    options.showsOwner && {
      id: 'owner',
      header: 'Owner',
      width: 170,
      priority: 2,
      sortValue: (row) => row.username,
      cell: (row) => <span title={row.username}>{row.username}</span>,
    },
    {
      id: 'state',
      header: 'Status',
      width: 110,
      sortValue: (row) => stateOf(row),
      cell: (row) => <KeyStateMark row={row} />,
    },
    {
      id: 'used',
      header: 'Last used',
      width: 120,
      priority: 2,
      sortValue: (row) => (row.last_used_at ? Date.parse(row.last_used_at) : null),
      cell: (row) =>
        row.last_used_at ? <RelativeTime at={row.last_used_at} /> : <span className="text-faint">never</span>,
    },
    {
      id: 'uses',
      header: 'Uses',
      width: 80,
      priority: 3,
      align: 'end',
      sortValue: (row) => row.usage_count,
      cell: (row) => formatNumber(row.usage_count),
    },
    {
      id: 'created',
      header: 'Created',
      width: 120,
      priority: 3,
      sortValue: (row) => Date.parse(row.created_at),
      cell: (row) => <RelativeTime at={row.created_at} />,
    },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      width: 60,
      align: 'end',
      cell: (row) => <KeyMenu row={row} end={options.end} />,
    },
  ]
  return columns.filter((column) => column !== false)
}

export function KeyStateMark({ row }: { row: McpKey }) {
  const state = stateOf(row)
  if (state === 'revoked') return <StatusDot tone="danger" label="Revoked" />
  if (state === 'expired') return <StatusDot tone="warning" label="Expired" />
  return <StatusDot tone="success" label="Active" />
}

function KeyName({ row }: { row: McpKey }) {
  return (
    <span className="flex min-w-0 flex-col leading-4.5">
      <span className="truncate font-medium" title={row.name}>
        {row.name}
      </span>
      <span className="truncate text-xs text-muted">
        <code>{row.key_prefix}…</code>
        {row.agent_name && ` · ${row.agent_name}`}
        {row.description && ` · ${row.description}`}
      </span>
    </span>
  )
}

function KeyMenu({ row, end }: { row: McpKey; end: (ending: KeyEnding) => void }) {
  return (
    <Menu
      trigger={<IconButton size="sm" label={`Actions for ${row.name}`} icon={<Ellipsis aria-hidden />} />}
      items={[
        row.is_active && {
          label: 'Revoke…',
          icon: <Ban aria-hidden />,
          onSelect: () => end({ how: 'revoke', key: row }),
        },
        {
          label: 'Delete…',
          icon: <Trash2 aria-hidden />,
          danger: true,
          onSelect: () => end({ how: 'delete', key: row }),
        },
      ]}
    />
  )
}
