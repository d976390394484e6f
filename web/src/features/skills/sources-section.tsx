import type { SkillSource } from '@roost/contracts/skills/sources'
import { useQuery } from '@tanstack/react-query'
import { GitBranch, Plus, RefreshCw, Timer } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { libraryStatusQuery, sourcesQuery } from './queries.ts'
import { useRemoveSource, useSourceSwitch, useSync } from './source-actions.ts'
import { type SourceRow, sourceColumns } from './source-columns.tsx'
import { SourceDialog } from './source-dialog.tsx'
import { SyncSettingsDialog } from './sync-settings-dialog.tsx'

/** The skill sources. Admins can change them; others see their state. */
export function SourcesSection({ isAdmin }: { isAdmin: boolean }) {
  return isAdmin ? <ManagedSources /> : <ShownSources />
}

function ShownSources() {
  const status = useQuery(libraryStatusQuery(useApi()))
  const columns = useMemo(() => sourceColumns(null), [])
  return (
    <section aria-label="Sources" className="min-w-0">
      <CardHeader
        title="Sources"
        description="Repositories that provide skills. Only admins can change them."
      />
      <SourceTable query={status} rows={status.data?.sources ?? []} columns={columns} />
    </section>
  )
}

function ManagedSources() {
  const sources = useQuery(sourcesQuery(useApi()))
  const [editing, setEditing] = useState<SkillSource | 'new' | null>(null)
  const [removing, setRemoving] = useState<SkillSource | null>(null)
  const [isSetting, setSetting] = useState(false)
  const sync = useSync()
  const toggle = useSourceSwitch().mutate
  const remove = useRemoveSource(() => setRemoving(null))
  const rows = sources.data ?? none
  const [isPending, under] = [sync.isPending, sync.variables]
  const columns = useMemo(() => {
    const stored = (row: SourceRow) => rows.find(({ id }) => id === row.id) ?? null
    const running = isPending
      ? rows.filter(({ id, enabled }) => (under === null ? enabled : id === under))
      : []
    return sourceColumns({
      sync: sync.mutate,
      toggle,
      edit: (row) => setEditing(stored(row)),
      remove: (row) => setRemoving(stored(row)),
      syncing: new Set(running.map(({ id }) => id)),
    })
  }, [rows, isPending, under, sync.mutate, toggle])
  return (
    <section aria-label="Sources" className="min-w-0">
      <CardHeader
        title="Sources"
        description="Repositories that provide skills, in order of priority."
        actions={
          <>
            <Button variant="ghost" icon={<Timer aria-hidden />} onClick={() => setSetting(true)}>
              Automatic sync…
            </Button>
            <Button
              icon={<RefreshCw aria-hidden />}
              pending={sync.isPending && sync.variables === null}
              disabled={!rows.some(({ enabled }) => enabled)}
              onClick={() => sync.mutate(null)}
            >
              Sync all
            </Button>
            <Button variant="primary" icon={<Plus aria-hidden />} onClick={() => setEditing('new')}>
              Add source
            </Button>
          </>
        }
      />
      <Troubles rows={rows} onEdit={setEditing} />
      <SourceTable query={sources} rows={rows} columns={columns} />
      <SourceDialog
        editing={editing}
        onClose={() => setEditing(null)}
        onUnsynced={({ id }) => sync.mutate(id)}
      />
      <SyncSettingsDialog isOpen={isSetting} onClose={() => setSetting(false)} />
      <ConfirmDialog
        open={removing !== null}
        onOpenChange={() => setRemoving(null)}
        title={`Remove “${removing?.name ?? ''}”?`}
        description="Agents keep the skills of this source. They are shown as stale."
        action="Remove source"
        pending={remove.isPending}
        onConfirm={() => removing && remove.mutate(removing)}
      />
    </section>
  )
}

/** Sources whose last sync failed, each with a next step. */
function Troubles({ rows, onEdit }: { rows: readonly SkillSource[]; onEdit: (row: SkillSource) => void }) {
  const troubled = rows.filter(
    ({ last_sync_status }) => last_sync_status === 'failed' || last_sync_status === 'moved_tag',
  )
  return troubled.map((row) => (
    <Banner
      key={row.id}
      tone="warning"
      className="mb-3"
      title={
        row.last_sync_status === 'moved_tag'
          ? `“${row.name}”: tag ${row.ref} was moved`
          : `“${row.name}” could not be synced`
      }
      action={
        <Button size="sm" onClick={() => onEdit(row)}>
          {row.last_sync_status === 'moved_tag' ? 'Choose another tag' : 'Edit source'}
        </Button>
      }
    >
      {row.last_error} The library keeps the skills of the last sync.{' '}
      <code className="text-xs">{codeOf(row)}</code>
    </Banner>
  ))
}

function codeOf({ last_sync_status }: SkillSource): string {
  return last_sync_status === 'moved_tag' ? 'moved_tag' : 'sync_failed'
}

type SourceTableProps = {
  query: { isError: boolean; isPending: boolean; error: unknown; refetch: () => unknown; data?: unknown }
  rows: readonly SourceRow[]
  columns: ReturnType<typeof sourceColumns>
}

function SourceTable({ query, rows, columns }: SourceTableProps) {
  if (query.isError && query.data === undefined) {
    return (
      <ErrorState
        title="Could not load the sources"
        error={query.error}
        onRetry={() => void query.refetch()}
        className="rounded-lg border border-line bg-surface"
      />
    )
  }
  return (
    <DataTable
      label="Skill sources"
      columns={columns}
      rows={rows}
      rowKey={(row) => row.id}
      rowLabel={(row) => row.name}
      rowHeight={52}
      sort={null}
      isLoading={query.isPending}
      empty={
        <EmptyState
          icon={<GitBranch aria-hidden />}
          title="No sources yet"
          description="A source is a repository with one folder per skill."
        />
      }
    />
  )
}

const none: SkillSource[] = []
