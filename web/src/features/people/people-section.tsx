import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { UserPlus } from 'lucide-react'
import { useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { DataTable, type Sort } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { meQuery } from '../users/queries.ts'
import { peopleColumns } from './people-columns.tsx'
import { filterPeople, titleOf } from './people-rows.ts'
import { PersonSheet } from './person-sheet.tsx'
import { peopleQuery } from './queries.ts'
import { roleChoices } from './role-choices.ts'

const route = getRouteApi('/signed-in/people')
type Search = ReturnType<typeof route.useSearch>

const groups = [
  { value: 'all', label: 'All users' },
  ...roleChoices.map(({ value, label }) => ({ value, label: `${label}s` })),
  { value: 'suspended', label: 'Suspended' },
]

/** All accounts with their roles. */
export function PeopleSection({ onInvite }: { onInvite: () => void }) {
  const api = useApi()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const people = useQuery(peopleQuery(api))
  const { q, role, sort, person } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: Partial<Search>, replace = true) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace, resetScroll: false })
  const columns = useMemo(() => peopleColumns(me.username), [me.username])
  const rows = useMemo(() => filterPeople(people.data ?? [], { q, role }), [people.data, q, role])
  const opened = people.data?.find(({ username }) => username === person) ?? null
  return (
    <section aria-label="Users">
      <CardHeader
        title="Users"
        description="All accounts. An account is created at the first sign-in or during setup."
        actions={
          <Button variant="primary" icon={<UserPlus aria-hidden />} onClick={onInvite}>
            Add user
          </Button>
        }
      />
      <div className="mb-3 flex flex-wrap gap-2">
        <SearchInput
          label="Search users"
          value={q ?? ''}
          onValueChange={(text) => change({ q: text || undefined })}
          className="w-full sm:w-64"
        />
        <Select
          label="Role"
          options={groups}
          value={groups.find(({ value }) => value === role)?.value ?? 'all'}
          onValueChange={(value) => change({ role: value === 'all' ? undefined : value })}
          className="w-36"
        />
      </div>
      {people.isError && !people.data ? (
        <ErrorState
          title="Could not load the users"
          error={people.error}
          onRetry={() => void people.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="Users"
          columns={columns}
          rows={rows}
          rowKey={(row) => row.username}
          rowLabel={titleOf}
          rowHeight={48}
          sort={sortOf(sort)}
          onSortChange={(next) => change({ sort: next ? `${next.desc ? '-' : ''}${next.id}` : 'none' })}
          onOpenRow={(row) => change({ person: row.username }, false)}
          isLoading={people.isPending}
          empty={
            <EmptyState
              title="No matching users"
              description="Try other search words or another role."
              action={
                <Button onClick={() => change({ q: undefined, role: undefined })}>Clear filters</Button>
              }
            />
          }
        />
      )}
      <PersonSheet
        person={opened}
        isMe={opened?.username === me.username}
        onClose={() => change({ person: undefined })}
      />
    </section>
  )
}

/** `role` or `-role`; the default is the latest sign-in first. */
function sortOf(text: string | undefined): Sort | null {
  if (text === 'none') return null
  if (!text) return { id: 'last_login', desc: true }
  return { id: text.replace(/^-/, ''), desc: text.startsWith('-') }
}
