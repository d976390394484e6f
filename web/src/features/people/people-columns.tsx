import type { ManagedUser } from '@roost/contracts/identity/people'
import { AgentAvatar } from '../../ui/avatar.tsx'
import { Badge, StatusDot } from '../../ui/badge.tsx'
import type { DataColumn } from '../../ui/data-table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { furtherAddressOf, titleOf } from './people-rows.ts'
import { PersonMenu } from './person-menu.tsx'
import { PersonState } from './person-state.tsx'
import { roleLabel, roleRank } from './role-choices.ts'

/** `me`: the user name of the current user. */
export function peopleColumns(me: string): DataColumn<ManagedUser>[] {
  return [
    {
      id: 'person',
      header: 'User',
      grow: true,
      width: 160,
      sortValue: (row) => titleOf(row).toLowerCase(),
      cell: (row) => <Person person={row} isMe={row.username === me} />,
    },
    {
      id: 'role',
      header: 'Role',
      width: 100,
      sortValue: (row) => roleRank(row.role),
      cell: (row) => roleLabel(row.role),
    },
    {
      id: 'state',
      header: 'Status',
      width: 120,
      priority: 2,
      sortValue: (row) => (row.suspended_at === null ? 0 : 1),
      cell: (row) => <PersonState person={row} />,
    },
    {
      id: 'factor',
      header: 'Second factor',
      width: 130,
      priority: 3,
      sortValue: (row) => (row.mfa_enrolled ? 1 : 0),
      cell: (row) => (
        <StatusDot tone={row.mfa_enrolled ? 'success' : 'neutral'} label={row.mfa_enrolled ? 'On' : 'Off'} />
      ),
    },
    {
      id: 'last_login',
      header: 'Last sign-in',
      width: 130,
      priority: 2,
      sortValue: (row) => (row.last_login_at ? Date.parse(row.last_login_at) : null),
      cell: (row) =>
        row.last_login_at ? (
          <RelativeTime at={row.last_login_at} />
        ) : (
          <span className="text-faint">never</span>
        ),
    },
    {
      id: 'created',
      header: 'Created',
      width: 130,
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
      cell: (row) => <PersonMenu person={row} isMe={row.username === me} />,
    },
  ]
}

function Person({ person, isMe }: { person: ManagedUser; isMe: boolean }) {
  const further = furtherAddressOf(person)
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      <AgentAvatar name={titleOf(person)} src={person.picture} shape="person" />
      <span className="flex min-w-0 flex-col leading-4.5">
        <span className="flex min-w-0 items-center gap-1.5">
          <span className="truncate font-medium" title={titleOf(person)}>
            {titleOf(person)}
          </span>
          {isMe && <Badge>you</Badge>}
        </span>
        {further && <span className="truncate text-xs text-muted">{further}</span>}
      </span>
    </span>
  )
}
