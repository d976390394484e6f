import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { HistoryRecord } from '@roost/contracts/agents/workspace-history'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Download, File, Folder, Pin, PinOff } from 'lucide-react'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Bytes } from '../../ui/bytes.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { ForkButton } from '../agents/fork-button.tsx'
import { parentOf, visibleName } from '../workspace/paths.ts'
import { showFault } from '../workspace/show-fault.ts'
import { ChangeList } from './change-list.tsx'
import {
  downloadAt,
  historyKeys,
  type Named,
  pathQuery,
  pinRecord,
  recordChangesQuery,
  recordFolderQuery,
} from './queries.ts'
import { RestoreButton } from './restore-button.tsx'
import { recordReasonWords } from './words.ts'

type Props = { agent: AgentDetails; record: HistoryRecord }

/** One record: what changed, and the files as they were. */
export function RecordView({ agent, record }: Props) {
  const { api, queries } = useApp()
  const isOwner = agent.is_owner || agent.can_delete
  const pinning = useMutation({
    mutationFn: () => pinRecord(api, agent.name, record.id, !record.pinned),
    onSuccess: () => queries.invalidateQueries({ queryKey: historyKeys.ofAgent(agent.name) }),
    onError: showFault,
  })
  return (
    <section aria-labelledby="history-record" className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 id="history-record" className="min-w-0 flex-1 font-semibold text-sm">
          Record {record.number}: {recordReasonWords[record.reason].toLowerCase()},{' '}
          <ExactTime at={record.created_at} />
        </h2>
        <ForkButton
          agentName={agent.name}
          from={{ record: record.id }}
          point={`record ${record.number}`}
          label="Fork from this record"
        />
        {isOwner && (
          <Button
            size="sm"
            icon={record.pinned ? <PinOff aria-hidden /> : <Pin aria-hidden />}
            pending={pinning.isPending}
            onClick={() => pinning.mutate()}
          >
            {record.pinned ? 'Unpin record' : 'Pin record'}
          </Button>
        )}
      </div>
      {record.left_out_count > 0 && (
        <p className="text-muted text-xs">{plural(record.left_out_count, 'path')} not recorded.</p>
      )}
      {record.base_id !== null && record.is_changed && (
        <Changes agent={agent} record={record} isOwner={isOwner} />
      )}
      <Files agent={agent} record={record} isOwner={isOwner} />
    </section>
  )
}

function Changes({ agent, record, isOwner }: Props & { isOwner: boolean }) {
  const { api } = useApp()
  const { data, error, refetch } = useQuery(recordChangesQuery(api, agent.name, record.id))
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <h3 className="font-medium text-sm">Changes since the previous record</h3>
      {error && !data && (
        <ErrorState title="Could not load the changes" error={error} onRetry={() => void refetch()} />
      )}
      {!error && !data && <SkeletonList rows={2} label="Loading the changes" />}
      {data && (
        <ChangeList
          agentName={agent.name}
          of={{ kind: 'record', name: agent.name, id: record.id }}
          found={data}
          label="Files changed since the previous record"
          before={isOwner && record.base_id !== null ? { record: record.base_id } : undefined}
        />
      )}
    </div>
  )
}

const root: Named = { path: '' }

function Files({ agent, record, isOwner }: Props & { isOwner: boolean }) {
  const { api } = useApp()
  const [folder, setFolder] = useState(root)
  const { data, error, refetch } = useQuery(recordFolderQuery(api, agent.name, record.id, folder))
  const saving = useMutation({
    mutationFn: (entry: Named & { kind: 'file' | 'folder' }) => downloadAt(api, agent.name, record.id, entry),
    onError: showFault,
  })
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="min-w-0 grow basis-56 break-words font-medium text-sm">
          Files in this record{folder.path !== '' && `: ${visibleName(folder.path)}`}
        </h3>
        {folder.path !== '' && (
          <Button size="sm" onClick={() => setFolder({ path: parentOf(folder.path) })}>
            Parent folder
          </Button>
        )}
        {isOwner && (
          <RestoreButton
            agentName={agent.name}
            target={{ record: record.id, ...(folder.path === '' ? {} : pathQuery(folder)) }}
            label={folder.path === '' ? 'Restore this record' : 'Restore this folder'}
            title={
              folder.path === ''
                ? `Restore the workspace to record ${record.number}`
                : `Restore ${visibleName(folder.path)} to record ${record.number}`
            }
          />
        )}
        {(isOwner || folder.path !== '') && (
          <Button
            size="sm"
            icon={<Download aria-hidden />}
            pending={saving.isPending}
            onClick={() => saving.mutate({ ...folder, kind: 'folder' })}
          >
            Download as tar.gz
          </Button>
        )}
      </div>
      {error && !data && (
        <ErrorState title="Could not load the files" error={error} onRetry={() => void refetch()} />
      )}
      {!error && !data && <SkeletonList rows={4} label="Loading the files" />}
      {data && (
        <ul
          aria-label="Recorded files"
          className="divide-y divide-line rounded-lg border border-line bg-surface text-sm"
        >
          {data.entries.length === 0 && <li className="px-3 py-2 text-muted">This folder is empty.</li>}
          {data.entries.map(({ name, path, path_bytes, kind, size }) => {
            const named = { path, ...(path_bytes === undefined ? {} : { path_bytes }) }
            const shown = visibleName(name)
            return (
              <li key={path_bytes ?? path} className="flex min-h-10 min-w-0 items-center gap-2 px-3 py-1">
                {kind === 'folder' ? (
                  <Folder aria-hidden className="size-4 shrink-0 text-muted" />
                ) : (
                  <File aria-hidden className="size-4 shrink-0 text-muted" />
                )}
                {kind === 'folder' ? (
                  <button
                    type="button"
                    className="min-w-0 flex-1 truncate text-left text-accent hover:underline"
                    onClick={() => setFolder(named)}
                  >
                    {shown}
                  </button>
                ) : (
                  <span className="min-w-0 flex-1 truncate">{shown}</span>
                )}
                {kind === 'link' && <span className="text-muted text-xs">link</span>}
                {kind === 'file' && (
                  <>
                    <span className="text-muted text-xs">
                      <Bytes bytes={size} />
                    </span>
                    <IconButton
                      size="sm"
                      label={`Download ${shown} from this record`}
                      icon={<Download aria-hidden />}
                      onClick={() => saving.mutate({ ...named, kind: 'file' })}
                    />
                  </>
                )}
              </li>
            )
          })}
        </ul>
      )}
      {data && data.total > data.entries.length && (
        <p className="text-muted text-xs">
          {plural(data.total - data.entries.length, 'more entry', 'more entries')}.
        </p>
      )}
    </div>
  )
}
