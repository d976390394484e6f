import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { fileKeys, namesIn, writeText } from './queries.ts'
import { showFault } from './show-fault.ts'
import { checkUploads, type Upload } from './upload-check.ts'
import type { FileActions } from './use-file-actions.ts'

/** Uploads dropped text files; `replacing` waits for a confirmation to overwrite existing files. */
export function useUploads(name: string, folder: string, { settle }: Pick<FileActions, 'settle'>) {
  const { api, queries } = useApp()
  const [replacing, setReplacing] = useState<{ uploads: Upload[]; present: Upload[] } | null>(null)
  const [isBusy, setBusy] = useState(false)

  async function offer(files: File[]): Promise<void> {
    if (files.length === 0) return
    const { uploads, refusals } = await checkUploads(files, folder)
    if (refusals.length > 0) {
      toast({
        title: `${plural(refusals.length, 'file')} not uploaded`,
        description: refusals.join(' '),
        tone: 'warning',
      })
    }
    if (uploads.length === 0) return
    try {
      await settle(folder)
      const names = await namesIn(api, name, folder)
      const present = uploads.filter((upload) => names.has(upload.name))
      if (present.length > 0) setReplacing({ uploads, present })
      else await save(uploads)
    } catch (error) {
      showFault(error)
    }
  }

  async function save(uploads: readonly Upload[]): Promise<void> {
    setReplacing(null)
    setBusy(true)
    try {
      for (const { path, text } of uploads) await writeText(api, name, path, text)
      toast({ title: `${plural(uploads.length, 'file')} uploaded`, tone: 'success' })
    } catch (error) {
      showFault(error)
    } finally {
      setBusy(false)
      await queries.invalidateQueries({ queryKey: fileKeys.all(name) })
    }
  }

  return {
    offer,
    isBusy,
    replacing,
    replace: () => replacing && void save(replacing.uploads),
    cancel: () => setReplacing(null),
  }
}
