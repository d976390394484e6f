import { type AllowListEntry, deleteAllowListEntry } from '@roost/contracts/identity/allow-list'
import { useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { toast } from '../../ui/toast.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { useUndo } from '../../ui/use-undo.ts'
import { knownAddresses } from '../people/people-rows.ts'
import { peopleQuery } from '../people/queries.ts'
import { type AllowedRow, allowListColumns } from './allow-list-columns.tsx'
import { allowListKey, allowListQuery } from './queries.ts'

/** The number of addresses from which the list is searchable. */
const searchFrom = 8

/** The e-mail addresses that may sign in. */
export function AllowListSection({ onInvite }: { onInvite: () => void }) {
  const { api, queries } = useApp()
  const list = useQuery(allowListQuery(api))
  const { data: people } = useQuery(peopleQuery(api))
  const [q, setQ] = useState('')
  const { pending, later } = useUndo()
  const latest = useLatest(later)

  const columns = useMemo(() => {
    const remove = ({ email }: AllowListEntry) =>
      latest.current({
        id: email,
        title: `${email} removed from the allow list.`,
        description: 'The account and its sessions are kept. Suspend the user to end them.',
        run: async () => {
          await api
            .call(deleteAllowListEntry, { params: { email } })
            .catch((error) => toast({ title: describeFault(error).sentence, tone: 'danger' }))
          await queries.invalidateQueries({ queryKey: allowListKey })
        },
      })
    return allowListColumns(remove)
  }, [api, queries, latest])

  const rows = useMemo((): AllowedRow[] => {
    const known = people ? knownAddresses(people) : null
    return (list.data ?? [])
      .filter(({ email }) => !pending.has(email) && email.includes(q.trim().toLowerCase()))
      .map((entry) => ({ ...entry, hasSignedIn: known?.has(entry.email) ?? null }))
  }, [list.data, people, pending, q])

  return (
    <section aria-label="Sign-in allow list">
      <CardHeader
        title="Sign-in allow list"
        description="Only these addresses can sign in by e-mail. Sharing an agent adds its recipient automatically."
      />
      {(list.data?.length ?? 0) >= searchFrom && (
        <SearchInput
          label="Search addresses"
          value={q}
          onValueChange={setQ}
          className="mb-3 w-full sm:w-64"
        />
      )}
      {list.isError && !list.data ? (
        <ErrorState
          title="Could not load the allow list"
          error={list.error}
          onRetry={() => void list.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="Sign-in allow list"
          columns={columns}
          rows={rows}
          rowKey={(row) => row.email}
          isLoading={list.isPending}
          empty={
            q ? (
              <EmptyState
                title="No matching addresses"
                action={<Button onClick={() => setQ('')}>Clear search</Button>}
              />
            ) : (
              <EmptyState
                icon={<UserPlus aria-hidden />}
                title="The allow list is empty"
                description="Add the first address. Its owner can then sign in with an e-mail code."
                action={<Button onClick={onInvite}>Add user</Button>}
              />
            )
          }
        />
      )}
    </section>
  )
}
