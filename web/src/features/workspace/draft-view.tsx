import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeEditor } from '../../ui/code-editor.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { nameOf, visibleName } from './paths.ts'
import type { FileContent } from './read-file.ts'
import { TextFacts } from './text-facts.tsx'
import { languageOf } from './text-file.ts'
import type { Draft, DraftDesk } from './use-draft.ts'

export type DraftViewProps = { draft: Draft; desk: DraftDesk; file: FileContent | undefined }

/** A file being edited. */
export function DraftView({ draft, desk, file }: DraftViewProps) {
  const name = nameOf(draft.path)
  const onDisk = file?.kind === 'text' && file.text !== draft.base ? file.text : null
  return (
    <>
      {onDisk !== null && !desk.isSaving && (
        <Banner
          tone="warning"
          className="mx-4 mt-3"
          title="The file has changed on disk"
          action={
            <Button size="sm" onClick={() => desk.takeOver(onDisk)}>
              Reload
            </Button>
          }
        >
          {desk.isDirty ? 'Reloading discards your unsaved changes.' : 'You have no unsaved changes.'}
        </Banner>
      )}
      <CodeEditor
        label={`Text of ${visibleName(name)}`}
        value={draft.text}
        language={languageOf(name)}
        onChange={desk.change}
        onSave={() => desk.save()}
        autoFocus
        className="m-4 mb-0 flex-1"
      />
      <TextFacts text={draft.text} ends={draft.ends} />
      <ConflictDialog name={name} desk={desk} />
    </>
  )
}

function ConflictDialog({ name, desk }: { name: string; desk: DraftDesk }) {
  const onDisk = desk.conflict?.onDisk ?? null
  const shown = visibleName(name)
  return (
    <Dialog
      open={desk.conflict !== null}
      onOpenChange={(open) => !open && desk.closeConflict()}
      size="sm"
      title={onDisk === null ? `“${shown}” was deleted` : `“${shown}” has changed on disk`}
      description={
        onDisk === null
          ? 'The file was deleted or is no longer text. Your changes were not saved.'
          : 'The agent or another user changed the file while you edited it. Your changes were not saved.'
      }
      footer={
        <>
          <Button data-autofocus onClick={desk.closeConflict}>
            Keep editing
          </Button>
          {onDisk !== null && <Button onClick={() => desk.takeOver(onDisk)}>Reload from disk</Button>}
          <Button variant="danger" pending={desk.isSaving} onClick={() => desk.save(true)}>
            {onDisk === null ? 'Save anyway' : 'Overwrite'}
          </Button>
        </>
      }
    />
  )
}
