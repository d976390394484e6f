import type { RosterAgent } from '@roost/contracts/conversations/workspace'
import type { WorkspaceDocument } from '@roost/contracts/conversations/workspace-documents'
import { useQuery } from '@tanstack/react-query'
import { Download, FileText, Trash2, Upload } from 'lucide-react'
import { useRef } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Bytes } from '../../ui/bytes.tsx'
import { DropZone } from '../../ui/drop-zone.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { documentsQuery } from './queries.ts'
import { useDocumentActions } from './use-document-actions.ts'

/** Files that this user has given to the agent. They are stored in its workspace. */
export function Documents({ agent }: { agent: RosterAgent }) {
  const documents = useQuery(documentsQuery(useApi(), agent.name))
  const actions = useDocumentActions(agent.name)
  const chooser = useRef<HTMLInputElement>(null)
  const isReady = agent.state === 'ready'
  const shown = (documents.data ?? []).filter(({ id }) => !actions.pending.has(id))
  return (
    <DropZone label="Drop files to upload them" onFiles={actions.upload}>
      <Button
        icon={<Upload aria-hidden />}
        pending={actions.isUploading}
        disabled={!isReady}
        onClick={() => chooser.current?.click()}
        className="w-full"
      >
        Upload file
      </Button>
      <input
        ref={chooser}
        type="file"
        multiple
        tabIndex={-1}
        aria-hidden
        data-testid="documents"
        className="hidden"
        onChange={({ currentTarget }) => {
          void actions.upload([...(currentTarget.files ?? [])])
          // Allows choosing the same file again.
          currentTarget.value = ''
        }}
      />
      <p className="mt-2 mb-3 text-muted text-xs">
        {isReady
          ? 'Up to 25 MB each, 100 MB in total. The agent finds the files in its folder “uploads”.'
          : 'You can upload and delete files only while the agent is running.'}
      </p>
      {documents.data ? (
        shown.length === 0 ? (
          <EmptyState
            icon={<FileText aria-hidden />}
            title="No files yet"
            description="Upload files for the agent to work with."
          />
        ) : (
          <ul aria-label="Files" className="-mx-2 flex flex-col">
            {shown.map((document) => (
              <DocumentRow key={document.id} document={document} isReady={isReady} actions={actions} />
            ))}
          </ul>
        )
      ) : documents.error ? (
        <ErrorState
          title="Could not load the files"
          error={documents.error}
          onRetry={() => void documents.refetch()}
        />
      ) : (
        <SkeletonList rows={3} label="Loading files" />
      )}
    </DropZone>
  )
}

type DocumentRowProps = {
  document: WorkspaceDocument
  isReady: boolean
  actions: ReturnType<typeof useDocumentActions>
}

function DocumentRow({ document, isReady, actions }: DocumentRowProps) {
  const { filename, size_bytes, created_at } = document
  return (
    <li className="flex items-center gap-1 rounded-md py-1 pr-1 pl-2 hover:bg-hover">
      <span className="min-w-0 flex-1">
        <span className="block truncate text-sm" title={filename}>
          {filename}
        </span>
        <span className="flex gap-1.5 text-muted text-xs">
          <Bytes bytes={size_bytes} />·<RelativeTime at={created_at} />
        </span>
      </span>
      <IconButton
        size="sm"
        label={`Download ${filename}`}
        icon={<Download aria-hidden />}
        disabled={!isReady}
        pending={actions.downloading === document.id}
        onClick={() => void actions.download(document)}
      />
      <IconButton
        size="sm"
        label={`Delete ${filename}`}
        icon={<Trash2 aria-hidden />}
        disabled={!isReady}
        onClick={() => actions.remove(document)}
      />
    </li>
  )
}
