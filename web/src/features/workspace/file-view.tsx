import { useQuery } from '@tanstack/react-query'
import { Pencil } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { maxEditableLength } from '../../ui/code-editor.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { toast } from '../../ui/toast.tsx'
import { ContentView } from './content-view.tsx'
import { DraftView } from './draft-view.tsx'
import { type EntryChanges, EntryMenu } from './entry-menu.tsx'
import { FileMissing } from './file-missing.tsx'
import { formattedOf } from './formatted.ts'
import { PathHeader } from './path-header.tsx'
import { isProtected, type Place } from './paths.ts'
import { fileQuery } from './queries.ts'
import type { FileContent } from './read-file.ts'
import type { DraftDesk } from './use-draft.ts'

export type FileViewProps = {
  agentName: string
  path: string
  desk: DraftDesk
  isDownloading: boolean
  onGo: (place: Place) => void
  onDownload: (place: Place) => void
  /** Null for people who may only read the workspace. */
  changes: EntryChanges | null
}

/** Shows one file, and edits text files. Ctrl-S and Cmd-S save from anywhere in the view. */
export function FileView(props: FileViewProps) {
  const { agentName, path, desk, isDownloading, onGo, onDownload, changes } = props
  const file = useQuery(fileQuery(useApi(), agentName, path))
  const place: Place = { kind: 'file', path }
  const formatted = file.data ? formattedOf(path, file.data) : null
  const [isSource, setSource] = useState(false)
  const draft = desk.draft?.path === path ? desk.draft : null

  const discard = () => {
    desk.drop()
    if (!draft || !desk.isDirty) return
    toast({
      title: 'Changes discarded',
      action: {
        label: 'Undo',
        onAction() {
          desk.begin(draft)
          onGo(place)
        },
      },
    })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const isSave = event.key === 's' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
    // The editor has already handled it.
    if (!isSave || !draft || event.defaultPrevented) return
    event.preventDefault()
    desk.save()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles a key of the focused element inside
    <div className="flex min-h-0 min-w-0 flex-1 flex-col" onKeyDown={onKeyDown}>
      <PathHeader agentName={agentName} place={place}>
        {draft ? (
          <EditButtons desk={desk} onDiscard={discard} />
        ) : (
          <>
            {formatted && (
              <Segmented
                size="sm"
                label="View"
                value={isSource ? 'source' : 'formatted'}
                onValueChange={(view) => setSource(view === 'source')}
                options={[
                  { value: 'formatted', label: formatted.label },
                  { value: 'source', label: 'Source' },
                ]}
              />
            )}
            {changes !== null && <EditButton path={path} file={file.data} desk={desk} />}
          </>
        )}
        <EntryMenu
          place={place}
          onDownload={onDownload}
          changes={changes}
          trigger={{ pending: isDownloading }}
        />
      </PathHeader>
      {draft ? (
        <DraftView draft={draft} desk={desk} file={file.data} />
      ) : file.data ? (
        <ContentView
          path={path}
          file={file.data}
          formatted={isSource ? null : formatted}
          onDownload={() => onDownload(place)}
          onReplace={changes && !isProtected(path) ? () => changes.onReplace(path) : null}
        />
      ) : (
        <FileMissing path={path} error={file.error} onRetry={() => void file.refetch()} />
      )}
    </div>
  )
}

function EditButton({ path, file, desk }: { path: string; file: FileContent | undefined; desk: DraftDesk }) {
  if (file?.kind !== 'text' || isProtected(path) || file.text.length > maxEditableLength) return null
  const { text, ends } = file
  return (
    <Button
      size="sm"
      icon={<Pencil aria-hidden />}
      onClick={() => desk.begin({ path, base: text, text, ends })}
    >
      Edit
    </Button>
  )
}

function EditButtons({ desk, onDiscard }: { desk: DraftDesk; onDiscard: () => void }) {
  return (
    <>
      <span role="status" className="text-xs text-muted">
        {desk.isDirty ? 'Unsaved changes' : ''}
      </span>
      <Button size="sm" onClick={onDiscard}>
        {desk.isDirty ? 'Discard' : 'Done'}
      </Button>
      <Button
        size="sm"
        variant="primary"
        disabled={!desk.isDirty}
        pending={desk.isSaving}
        onClick={() => desk.save()}
      >
        Save
      </Button>
    </>
  )
}
