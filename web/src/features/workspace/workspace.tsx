import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { transferredFiles } from '../../lib/dropped-files.ts'
import { Banner } from '../../ui/banner.tsx'
import { DropZone } from '../../ui/drop-zone.tsx'
import { useStoredState } from '../../ui/use-stored-state.ts'
import { DeleteFolderDialog } from './delete-folder-dialog.tsx'
import { type EntryChanges, EntryMenu } from './entry-menu.tsx'
import { FileChooser } from './file-chooser.tsx'
import { FileView } from './file-view.tsx'
import { FolderButtons } from './folder-buttons.tsx'
import { FolderView } from './folder-view.tsx'
import { MoveDialog } from './move-dialog.tsx'
import { NewEntryDialog } from './new-entry-dialog.tsx'
import { PathHeader } from './path-header.tsx'
import { isWithin, nameOf, type Place, parentOf, visibleName } from './paths.ts'
import { TreePane } from './tree-pane.tsx'
import { maxOffered } from './uploads/plan.ts'
import { PresentDialog } from './uploads/present-dialog.tsx'
import { AgentTransfers } from './uploads/transfer-list.tsx'
import { useUploads } from './uploads/use-uploads.ts'
import type { DraftDesk } from './use-draft.ts'
import { useFileActions } from './use-file-actions.ts'

export type WorkspaceProps = {
  agent: AgentDetails
  place: Place
  desk: DraftDesk
  onGo: (place: Place) => void
}

/** The file tree on the left and the selected entry on the right; phones show only the latter. */
export function Workspace({ agent, place, desk, onGo }: WorkspaceProps) {
  const { name } = agent
  const [hidden, setHidden] = useStoredState('files-hidden', false)
  const [creating, setCreating] = useState<Place['kind'] | null>(null)
  const [deleting, setDeleting] = useState<string | null>(null)
  const [moving, setMoving] = useState<Place | null>(null)
  const replacement = useRef<HTMLInputElement>(null)
  const [replaced, setReplaced] = useState('')
  const mayWrite = agent.workspace_access !== 'read'
  const actions = useFileActions(name)
  const folder = place.kind === 'folder' ? place.path : parentOf(place.path)
  const uploads = useUploads(name, actions)
  const drop = (data: DataTransfer, into: string) => uploads.offer(transferredFiles(data, maxOffered), into)
  usePastedFiles(mayWrite ? (data) => void drop(data, folder) : null)

  const leave = (path: string) => {
    if (isWithin(place.path, path)) onGo({ kind: 'folder', path: parentOf(path) })
  }
  const remove = ({ kind, path }: Place) => {
    if (kind === 'folder') return setDeleting(path)
    if (desk.draft?.path === path) desk.drop()
    actions.removeFile(path)
    leave(path)
  }
  const changes: EntryChanges | null = mayWrite
    ? {
        onDelete: remove,
        onMove: setMoving,
        onReplace(path) {
          setReplaced(path)
          replacement.current?.click()
        },
        mayMoveFolders: agent.can_share,
      }
    : null
  return (
    <div className="flex min-h-0 min-w-0 flex-1">
      <TreePane
        name={name}
        place={place}
        hidden={hidden}
        onHiddenChange={setHidden}
        removed={actions.removed}
        onGo={onGo}
        onRefresh={actions.refresh}
        onDrop={mayWrite ? (data, into) => void drop(data, into) : null}
      />
      <DropZone
        label={`Drop files into ${visibleName(nameOf(folder)) || 'the workspace'}`}
        onFiles={mayWrite ? (_files, data) => drop(data, folder) : null}
      >
        {agent.status !== 'running' && (
          <Banner tone="warning" className="mx-4 mt-3">
            The agent is no longer running. Start it to save your changes.
          </Banner>
        )}
        {!mayWrite && (
          <Banner className="mx-4 mt-3" title="Read only">
            The agent is shared with you for reading. You cannot change its files.
          </Banner>
        )}
        {place.kind === 'file' ? (
          <FileView
            key={place.path}
            agentName={name}
            path={place.path}
            desk={desk}
            isDownloading={actions.isDownloading}
            onGo={onGo}
            onDownload={actions.download}
            changes={changes}
          />
        ) : (
          <>
            <PathHeader agentName={name} place={place}>
              {mayWrite && (
                <FolderButtons onUpload={(files) => uploads.offer(files, folder)} onNew={setCreating} />
              )}
              <EntryMenu
                place={place}
                onDownload={actions.download}
                changes={changes}
                trigger={{ pending: actions.isDownloading }}
                before={[
                  {
                    label: 'Show hidden files',
                    checked: hidden,
                    onSelect: () => setHidden(!hidden),
                  },
                  'separator',
                ]}
              />
            </PathHeader>
            <FolderView
              key={place.path}
              agentName={name}
              path={place.path}
              hidden={hidden}
              removed={actions.removed}
              onOpen={onGo}
              onDownload={actions.download}
              changes={changes}
            />
          </>
        )}
        <AgentTransfers agent={name} className="shrink-0 border-t border-line" />
      </DropZone>
      <NewEntryDialog
        agentName={name}
        folder={folder}
        kind={creating}
        onClose={() => setCreating(null)}
        create={actions.create}
        onCreated={(created) => {
          setCreating(null)
          if (created.kind === 'file') desk.begin({ path: created.path, base: '', text: '', ends: 'lf' })
          onGo(created)
        }}
      />
      <DeleteFolderDialog
        path={deleting}
        isPending={actions.isRemoving}
        onClose={() => setDeleting(null)}
        onConfirm={(path) => {
          void actions.removeFolder(path).then(
            () => leave(path),
            () => {},
          )
          setDeleting(null)
        }}
      />
      <FileChooser
        input={replacement}
        label="Replacement file"
        takes="file"
        onChosen={async ([chosen]) => {
          if (chosen) await uploads.replace(replaced, chosen.file)
        }}
      />
      <MoveDialog
        place={moving}
        onClose={() => setMoving(null)}
        move={actions.move}
        onMoved={(from, to) => {
          setMoving(null)
          if (isWithin(place.path, from.path))
            onGo({ kind: place.kind, path: `${to}${place.path.slice(from.path.length)}` })
        }}
      />
      <PresentDialog
        present={uploads.question?.present ?? []}
        onChoose={uploads.answer}
        onCancel={uploads.cancel}
      />
    </div>
  )
}

/** Files pasted anywhere on the page, except into text fields and dialogs. */
function usePastedFiles(onPaste: ((data: DataTransfer) => void) | null): void {
  const paste = useEffectEvent((event: ClipboardEvent) => {
    const { target, clipboardData } = event
    const isElsewhere =
      target instanceof HTMLElement &&
      (target.isContentEditable || target.closest('input, textarea, [role=dialog]') !== null)
    if (onPaste === null || isElsewhere || !clipboardData?.types.includes('Files')) return
    event.preventDefault()
    onPaste(clipboardData)
  })
  useEffect(() => {
    const listener = (event: ClipboardEvent) => paste(event)
    document.addEventListener('paste', listener)
    return () => document.removeEventListener('paste', listener)
  }, [])
}
