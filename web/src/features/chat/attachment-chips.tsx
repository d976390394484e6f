import { FileText, FolderInput, X } from 'lucide-react'
import { formatBytes } from '../../lib/format.ts'
import { Banner } from '../../ui/banner.tsx'
import { isImage, type WorkspaceFile } from './attachments.ts'
import type { ComposerState } from './use-composer.ts'
import { uploadsFolder } from './workspace-note.ts'

/** The files of the draft, and the errors of refused files. */
export function AttachmentChips({ state }: { state: ComposerState }) {
  const { attachments, refusals } = state
  return (
    <>
      {refusals.length > 0 && (
        <Banner tone="danger" className="m-2 mb-0" onDismiss={state.dismissRefusals}>
          {refusals.map((refusal) => (
            <p key={refusal} className="break-words">
              {refusal}
            </p>
          ))}
        </Banner>
      )}
      {attachments.length > 0 && (
        <ul aria-label="Files to send" className="flex flex-wrap gap-2 px-3 pt-3">
          {attachments.map(({ id, name, mimetype, size, data_base64 }) => (
            <li
              key={id}
              className="flex h-11 max-w-60 items-center gap-2 rounded-md border border-line bg-sunken pr-1 pl-1.5"
            >
              {isImage(mimetype) ? (
                <img
                  src={`data:${mimetype};base64,${data_base64}`}
                  alt=""
                  className="size-8 shrink-0 rounded-sm object-cover"
                />
              ) : (
                <FileText aria-hidden className="mx-1.5 size-4 shrink-0 text-muted" />
              )}
              <span className="min-w-0 flex-1 text-xs">
                <span className="block truncate text-ink">{name}</span>
                <span className="block text-muted">{formatBytes(size)}</span>
              </span>
              <RemoveButton name={name} onRemove={() => state.detach(id)} />
            </li>
          ))}
        </ul>
      )}
      <WorkspaceFiles state={state} />
    </>
  )
}

/** Files that do not fit into the message. Their uploads have a list of their own. */
function WorkspaceFiles({ state }: { state: ComposerState }) {
  const { workspaceFiles, isStoring } = state
  if (workspaceFiles.length === 0 || isStoring) return null
  return (
    <ul aria-label="Files for the workspace" className="flex flex-col gap-1 px-3 pt-3">
      {workspaceFiles.map((file) => (
        <WorkspaceChip key={file.id} file={file} onRemove={() => state.detach(file.id)} />
      ))}
    </ul>
  )
}

function WorkspaceChip({ file, onRemove }: { file: WorkspaceFile; onRemove: () => void }) {
  return (
    <li className="flex min-h-11 min-w-0 items-center gap-2 rounded-md border border-line bg-sunken py-1 pr-1 pl-1.5">
      <FolderInput aria-hidden className="mx-1.5 size-4 shrink-0 text-muted" />
      <span className="min-w-0 flex-1 text-xs">
        <span className="block truncate text-ink">{file.name}</span>
        <span className="block text-muted">
          {formatBytes(file.size)}. Goes to {uploadsFolder}/ in the workspace.
        </span>
      </span>
      <RemoveButton name={file.name} onRemove={onRemove} />
    </li>
  )
}

function RemoveButton({ name, onRemove }: { name: string; onRemove: () => void }) {
  return (
    <button
      type="button"
      aria-label={`Remove ${name}`}
      onClick={onRemove}
      className="grid size-6 shrink-0 place-items-center rounded-sm text-muted hover:bg-hover hover:text-ink"
    >
      <X aria-hidden className="size-3.5" />
    </button>
  )
}
