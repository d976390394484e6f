import type { NewKey } from '@roost/contracts/identity/keys'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { KeyRound, Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { PageHelp } from '../../shell/page-help.tsx'
import { Button } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { meQuery } from '../users/queries.ts'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { EndKeyDialog } from './end-key-dialog.tsx'
import type { KeyEnding } from './key-actions.ts'
import { keyColumns } from './key-columns.tsx'
import { filterKeys } from './key-rows.ts'
import { KeySheet } from './key-sheet.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { keysQuery } from './queries.ts'

const route = getRouteApi('/signed-in/keys')
type Search = ReturnType<typeof route.useSearch>

const whose = [
  { value: 'own', label: 'Own keys' },
  { value: 'all', label: 'All keys' },
] as const

/** MCP keys: create, show once, revoke. */
export function KeysTab() {
  const api = useApi()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const { q, key: openedId, ...search } = route.useSearch()
  const navigate = route.useNavigate()
  const isAdmin = me.role === 'admin'
  const all = isAdmin && search.all === true
  const keys = useQuery(keysQuery(api, { all }))
  const [isCreating, setCreating] = useState(false)
  const [newKey, setNewKey] = useState<NewKey | null>(null)
  const [ending, setEnding] = useState<KeyEnding | null>(null)
  const change = (next: Partial<Search>, replace = true) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace, resetScroll: false })

  const columns = useMemo(() => keyColumns({ showsOwner: all, end: setEnding }), [all])
  const rows = useMemo(() => filterKeys(keys.data ?? [], q), [keys.data, q])
  const create = (
    <Button variant="primary" icon={<Plus aria-hidden />} onClick={() => setCreating(true)}>
      Create key
    </Button>
  )
  return (
    <section aria-label="MCP keys">
      <PageHeader
        title="MCP keys"
        aside={<PageHelp guide="operate/keys" topic="MCP keys" />}
        description="Bearer tokens for programs. A key has the permissions of its owner, or fewer, depending on its scope."
        actions={create}
      />
      <div className="mb-3 flex flex-wrap gap-2">
        <SearchInput
          label="Search keys"
          value={q ?? ''}
          onValueChange={(text) => change({ q: text || undefined })}
          className="w-full sm:w-64"
        />
        {isAdmin && (
          <Segmented
            label="Owner of keys"
            options={whose}
            value={all ? 'all' : 'own'}
            onValueChange={(value) => change({ all: value === 'all' || undefined })}
          />
        )}
      </div>
      {keys.isError && !keys.data ? (
        <ErrorState
          title="Could not load the keys"
          error={keys.error}
          onRetry={() => void keys.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="Keys"
          columns={columns}
          rows={rows}
          rowKey={(row) => row.id}
          rowLabel={(row) => row.name}
          rowHeight={48}
          defaultSort={{ id: 'created', desc: true }}
          onOpenRow={(row) => change({ key: row.id }, false)}
          isLoading={keys.isPending}
          empty={
            q ? (
              <EmptyState
                title="No matching keys"
                action={<Button onClick={() => change({ q: undefined })}>Clear search</Button>}
              />
            ) : (
              <EmptyState
                icon={<KeyRound aria-hidden />}
                title="No keys yet"
                description="Create a key to give a program or an MCP client access to your agents."
                action={<Button onClick={() => setCreating(true)}>Create key</Button>}
              />
            )
          }
        />
      )}
      <KeySheet
        row={keys.data?.find(({ id }) => id === openedId) ?? null}
        isAdmin={isAdmin}
        onClose={() => change({ key: undefined })}
        end={setEnding}
      />
      <CreateKeyDialog
        open={isCreating}
        onOpenChange={setCreating}
        onCreated={(key) => {
          setCreating(false)
          setNewKey(key)
        }}
      />
      <NewKeyDialog newKey={newKey} onClose={() => setNewKey(null)} />
      <EndKeyDialog
        ending={ending}
        onClose={(ended) => {
          setEnding(null)
          if (ended?.how === 'delete') change({ key: undefined })
        }}
      />
    </section>
  )
}
