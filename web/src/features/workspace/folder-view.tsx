import { type FileEntry, maxListedEntries } from '@roost/contracts/agents/workspace'
import { useQuery } from '@tanstack/react-query'
import { FolderOpen } from 'lucide-react'
import { useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Bytes } from '../../ui/bytes.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { EntryIcon } from './entry-icon.tsx'
import { type EntryChanges, EntryMenu } from './entry-menu.tsx'
import { isProtected, type Place, relativePath, visibleName } from './paths.ts'
import { folderQuery } from './queries.ts'
import { withoutRemoved } from './tree-rows.ts'

export type FolderViewProps = {
  agentName: string
  path: string
  hidden: boolean
  removed: ReadonlySet<string>
  onOpen: (place: Place) => void
  onDownload: (place: Place) => void
  /** Null for people who may only read the workspace. */
  changes: EntryChanges | null
}

/** The entries of a folder with sizes and times. */
export function FolderView(props: FolderViewProps) {
  const { agentName, path, hidden, removed, onOpen } = props
  const mayWrite = props.changes !== null
  const mayMoveFolders = props.changes?.mayMoveFolders ?? false
  const listing = useQuery(folderQuery(useApi(), agentName, path, hidden))
  const latest = useLatest(props)
  const columns = useMemo(
    () =>
      columnsOf(
        (place) => latest.current.onDownload(place),
        mayWrite
          ? {
              onDelete: (place) => latest.current.changes?.onDelete(place),
              onMove: (place) => latest.current.changes?.onMove(place),
              onReplace: (file) => latest.current.changes?.onReplace(file),
              mayMoveFolders,
            }
          : null,
      ),
    [latest, mayWrite, mayMoveFolders],
  )
  const rows = useMemo(() => withoutRemoved(listing.data?.tree ?? [], removed), [listing.data, removed])
  if (listing.error && !listing.data) {
    return (
      <ErrorState
        title="Could not read the folder"
        error={listing.error}
        onRetry={() => void listing.refetch()}
      />
    )
  }
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col gap-3 p-4">
      {listing.data?.truncated && (
        <Banner tone="warning">
          Only the first {maxListedEntries.toLocaleString('en')} entries are shown. Download the folder for
          all entries.
        </Banner>
      )}
      <DataTable
        label={path === '' ? 'Workspace' : visibleName(path)}
        columns={columns}
        rows={rows}
        rowKey={keyOf}
        rowLabel={labelOf}
        defaultSort={null}
        onOpenRow={(row) => onOpen(placeOfEntry(row))}
        isLoading={listing.isPending}
        height="fill"
        rowHeight={36}
        empty={
          <EmptyState
            icon={<FolderOpen aria-hidden />}
            title="This folder is empty"
            description={
              [
                !hidden && 'Hidden files are not shown.',
                mayWrite && 'Drop or paste files here, or create a file for the agent.',
              ]
                .filter(Boolean)
                .join(' ') || undefined
            }
          />
        }
      />
    </div>
  )
}

const keyOf = (entry: FileEntry) => entry.path
const labelOf = (entry: FileEntry) => visibleName(entry.name)

function placeOfEntry({ path, type }: FileEntry): Place {
  return { kind: type === 'directory' ? 'folder' : 'file', path: relativePath(path) }
}

function columnsOf(
  onDownload: (place: Place) => void,
  changes: EntryChanges | null,
): DataColumn<FileEntry>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      grow: true,
      width: 160,
      // Folders stay at the top of a sorted list.
      sortValue: ({ name, type }) => `${type === 'directory' ? '0' : '1'}${name.toLowerCase()}`,
      cell: (entry) => <EntryName entry={entry} />,
    },
    {
      id: 'size',
      header: 'Size',
      width: 104,
      align: 'end',
      sortValue: ({ size }) => size ?? null,
      cell: ({ size, type, file_count: count }) =>
        type === 'directory' ? (
          <span className="text-faint">
            {count === 1 ? '1 item' : `${(count ?? 0).toLocaleString('en')} items`}
          </span>
        ) : (
          <Bytes bytes={size} />
        ),
    },
    {
      id: 'modified',
      header: 'Modified',
      width: 130,
      priority: 2,
      sortValue: ({ modified }) => modified ?? null,
      cell: ({ modified }) => <RelativeTime at={modified} className="text-muted" />,
    },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      width: 48,
      align: 'end',
      cell: (entry) => (
        <EntryMenu
          place={placeOfEntry(entry)}
          onDownload={onDownload}
          changes={changes}
          trigger={{ size: 'sm' }}
        />
      ),
    },
  ]
}

function EntryName({ entry }: { entry: FileEntry }) {
  const { kind, path } = placeOfEntry(entry)
  const name = visibleName(entry.name)
  return (
    <span className="flex min-w-0 items-center gap-2">
      <EntryIcon kind={kind} path={path} />
      <bdi className="min-w-0 truncate" title={name}>
        {name}
      </bdi>
      {isProtected(path) && <span className="shrink-0 text-xs text-faint">protected</span>}
    </span>
  )
}
