import type { AllowListEntry, AllowListSource } from '@roost/contracts/identity/allow-list'
import { Trash2 } from 'lucide-react'
import { StatusDot } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import type { DataColumn } from '../../ui/data-table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { roleLabel, roleRank } from '../people/role-choices.ts'

/** `hasSignedIn` is null until known. */
export type AllowedRow = AllowListEntry & { hasSignedIn: boolean | null }

const sources: Record<AllowListSource, string> = {
  manual: 'Added by admin',
  agent_sharing: 'Shared agent',
  access_request: 'Access request',
  cli: 'Command line',
}

export function allowListColumns(remove: (entry: AllowListEntry) => void): DataColumn<AllowedRow>[] {
  return [
    {
      id: 'email',
      header: 'E-mail address',
      grow: true,
      width: 180,
      sortValue: (row) => row.email,
      cell: (row) => (
        <span className="font-medium" title={row.email}>
          {row.email}
        </span>
      ),
    },
    {
      id: 'state',
      header: 'Status',
      width: 130,
      priority: 2,
      sortValue: (row) => (row.hasSignedIn ? 1 : 0),
      cell: (row) =>
        row.hasSignedIn !== null && (
          <StatusDot
            tone={row.hasSignedIn ? 'success' : 'neutral'}
            label={row.hasSignedIn ? 'Signed in' : 'Never signed in'}
          />
        ),
    },
    {
      id: 'role',
      header: 'Initial role',
      width: 100,
      priority: 2,
      sortValue: (row) => roleRank(row.default_role),
      cell: (row) => roleLabel(row.default_role),
    },
    {
      id: 'source',
      header: 'Source',
      width: 150,
      priority: 3,
      sortValue: (row) => row.source,
      cell: (row) => sources[row.source],
    },
    {
      id: 'added_by',
      header: 'Added by',
      width: 150,
      priority: 3,
      sortValue: (row) => row.added_by,
      cell: (row) => row.added_by ?? <span className="text-faint">none</span>,
    },
    {
      id: 'added_at',
      header: 'Added',
      width: 110,
      priority: 2,
      sortValue: (row) => Date.parse(row.added_at),
      cell: (row) => <RelativeTime at={row.added_at} />,
    },
    {
      id: 'remove',
      header: 'Remove',
      hideHeader: true,
      width: 64,
      align: 'end',
      cell: (row) => (
        <IconButton
          size="sm"
          label={`Remove ${row.email}`}
          icon={<Trash2 aria-hidden />}
          onClick={() => remove(row)}
        />
      ),
    },
  ]
}
