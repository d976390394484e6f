import { ApiError } from '@roost/contracts/client'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { storeReply } from '../../live/store-reply.ts'
import { type App, useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { complain } from './complain.ts'
import { fileKeys, writeText } from './queries.ts'
import { readFile } from './read-file.ts'
import { fromEditable, type LineEnds } from './text-file.ts'

/** A file that is being edited. `base` is what was on disk when the edit began or was last saved. */
export type Draft = { path: string; base: string; text: string; ends: LineEnds }

/** What is on disk in the place of `base`; null: nothing any more. */
export type Conflict = { onDisk: string | null }

export type DraftDesk = ReturnType<typeof useDraft>

/** The one file that is being edited, and its way to disk. */
export function useDraft(name: string) {
  const app = useApp()
  const [draft, setDraft] = useState<Draft | null>(null)
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const isDirty = draft !== null && draft.text !== draft.base

  const saving = useMutation({
    mutationFn: (input: { draft: Draft; overwrite: boolean }) => save(app, name, input),
    onSuccess(found, { draft: saved }) {
      setConflict(found)
      if (found) return
      // What was typed since stays, as a change of what is saved now.
      setDraft((now) => (now?.path === saved.path ? { ...now, base: saved.text } : now))
      toast({ title: 'Saved', tone: 'success' })
    },
    onError: complain,
  })

  return {
    draft,
    isDirty,
    conflict,
    isSaving: saving.isPending,
    begin: setDraft,
    change: (text: string) => setDraft((now) => now && { ...now, text }),
    save(overwrite = false): void {
      if (draft && !saving.isPending && (isDirty || overwrite)) saving.mutate({ draft, overwrite })
    },
    closeConflict: () => setConflict(null),
    drop(): void {
      setDraft(null)
      setConflict(null)
    },
    /** Goes on with what is on disk. */
    takeOver(text: string): void {
      setDraft((now) => now && { ...now, base: text, text })
      setConflict(null)
    },
  }
}

/**
 * Writes the draft unless the file is another one by now. What is compared is the text itself: times of files
 * are told in whole seconds, and a change within one would be lost.
 */
async function save(
  { api, queries }: App,
  name: string,
  { draft, overwrite }: { draft: Draft; overwrite: boolean },
): Promise<Conflict | null> {
  const { path } = draft
  if (!overwrite) {
    const onDisk = await textOnDisk(() => readFile(api, name, path))
    if (onDisk !== draft.base) return { onDisk }
  }
  const content = fromEditable(draft)
  await writeText(api, name, path, content)
  await storeReply<Awaited<ReturnType<typeof readFile>>>(queries, fileKeys.file(name, path), {
    kind: 'text',
    size: new TextEncoder().encode(content).length,
    text: draft.text,
    ends: draft.ends === 'mixed' ? 'lf' : draft.ends,
  })
  await queries.invalidateQueries({ queryKey: fileKeys.folders(name) })
  return null
}

/** Null where the file is gone, or is no text any more. */
async function textOnDisk(read: () => ReturnType<typeof readFile>): Promise<string | null> {
  try {
    const found = await read()
    return found.kind === 'text' ? found.text : null
  } catch (error) {
    if (error instanceof ApiError && error.body?.error === 'file_not_found') return null
    throw error
  }
}
