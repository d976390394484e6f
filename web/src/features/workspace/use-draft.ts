import { ApiError } from '@roost/contracts/client'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { storeReply } from '../../live/store-reply.ts'
import { type App, useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { fileKeys, writeText } from './queries.ts'
import { readFile } from './read-file.ts'
import { showFault } from './show-fault.ts'
import { fromEditable, type LineEnds } from './text-file.ts'

/** A file being edited. `base`: the content on disk when editing began or at the last save. */
export type Draft = { path: string; base: string; text: string; ends: LineEnds }

/** The current content on disk instead of `base`; null: deleted. */
export type Conflict = { onDisk: string | null }

export type DraftDesk = ReturnType<typeof useDraft>

/** The file being edited, and saving it. */
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
      // Input typed meanwhile stays as an unsaved change.
      setDraft((now) => (now?.path === saved.path ? { ...now, base: saved.text } : now))
      toast({ title: 'Saved', tone: 'success' })
    },
    onError: showFault,
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
    /** Continues with the content on disk. */
    takeOver(text: string): void {
      setDraft((now) => now && { ...now, base: text, text })
      setConflict(null)
    },
  }
}

/**
 * Saves the draft unless the file has changed. Compares the text itself, because file times have a resolution
 * of one second.
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

/** Null when the file is missing or no longer text. */
async function textOnDisk(read: () => ReturnType<typeof readFile>): Promise<string | null> {
  try {
    const found = await read()
    return found.kind === 'text' ? found.text : null
  } catch (error) {
    if (error instanceof ApiError && error.body?.error === 'file_not_found') return null
    throw error
  }
}
