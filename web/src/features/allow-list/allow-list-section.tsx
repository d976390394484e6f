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

/** From so many addresses on they are searched rather than read. */
const searchFrom = 8

/** The addresses that may sign in by e-mail. */
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
        title: `${email} may sign in no more.`,
        description: 'The account and its sessions stay: suspend it to end those.',
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
    <section aria-label="Who may sign in">
      <CardHeader
        title="Who may sign in"
        description="Sign-in by e-mail is for these addresses alone. Sharing an agent puts an address here too."
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
          title="The list could not be loaded"
          error={list.error}
          onRetry={() => void list.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="Addresses that may sign in"
          columns={columns}
          rows={rows}
          rowKey={(row) => row.email}
          isLoading={list.isPending}
          empty={
            q ? (
              <EmptyState
                title="No address matches"
                action={<Button onClick={() => setQ('')}>Clear the search</Button>}
              />
            ) : (
              <EmptyState
                icon={<UserPlus aria-hidden />}
                title="Nobody is on the list"
                description="Invite the first person: the address may sign in by a code from a mail."
                action={<Button onClick={onInvite}>Invite somebody</Button>}
              />
            )
          }
        />
      )}
    </section>
  )
}
