import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useState } from 'react'
import { Banner } from '../../ui/banner.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { DropZone } from '../../ui/drop-zone.tsx'
import { useStoredState } from '../../ui/use-stored-state.ts'
import { DeleteFolderDialog } from './delete-folder-dialog.tsx'
import { EntryMenu } from './entry-menu.tsx'
import { FileView } from './file-view.tsx'
import { FolderButtons } from './folder-buttons.tsx'
import { FolderView } from './folder-view.tsx'
import { NewEntryDialog } from './new-entry-dialog.tsx'
import { PathHeader } from './path-header.tsx'
import { isWithin, nameOf, type Place, parentOf, visibleName } from './paths.ts'
import { TreePane } from './tree-pane.tsx'
import type { DraftDesk } from './use-draft.ts'
import { useFileActions } from './use-file-actions.ts'
import { useUploads } from './use-uploads.ts'

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
  const mayWrite = agent.workspace_access !== 'read'
  const actions = useFileActions(name)
  const folder = place.kind === 'folder' ? place.path : parentOf(place.path)
  const uploads = useUploads(name, folder, actions)

  const leave = (path: string) => {
    if (isWithin(place.path, path)) onGo({ kind: 'folder', path: parentOf(path) })
  }
  const remove = ({ kind, path }: Place) => {
    if (kind === 'folder') return setDeleting(path)
    if (desk.draft?.path === path) desk.drop()
    actions.removeFile(path)
    leave(path)
  }
  const onDelete = mayWrite ? remove : null
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
      />
      <DropZone
        label={`Drop text files into ${visibleName(nameOf(folder)) || 'the workspace'}`}
        onFiles={mayWrite ? uploads.offer : null}
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
            onDelete={onDelete}
          />
        ) : (
          <>
            <PathHeader agentName={name} place={place}>
              {mayWrite && (
                <FolderButtons onUpload={uploads.offer} isUploading={uploads.isBusy} onNew={setCreating} />
              )}
              <EntryMenu
                place={place}
                onDownload={actions.download}
                onDelete={onDelete}
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
              onDelete={onDelete}
            />
          </>
        )}
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
      <ConfirmDialog
        open={uploads.replacing !== null}
        onOpenChange={(open) => !open && uploads.cancel()}
        title="Replace existing files?"
        description={`These files already exist: ${uploads.replacing?.present.map((upload) => visibleName(upload.name)).join(', ')}.`}
        action="Replace"
        onConfirm={uploads.replace}
      />
    </div>
  )
}
