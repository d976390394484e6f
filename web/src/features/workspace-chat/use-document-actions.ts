import { errorOf } from '@roost/contracts/client'
import {
  deleteDocument,
  downloadDocument,
  maxDocumentBytes,
  uploadDocument,
  type WorkspaceDocument,
} from '@roost/contracts/conversations/workspace-documents'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { saveBlob } from '../../lib/save-blob.ts'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { documentsQuery } from './queries.ts'
import { showFault } from './show-fault.ts'

/** The user's actions on the files of the agent. */
export function useDocumentActions(name: string) {
  const { api, queries } = useApp()
  const { pending, later } = useUndo()
  const [isUploading, setUploading] = useState(false)
  const [downloading, setDownloading] = useState<string | null>(null)
  const stale = () => queries.invalidateQueries({ queryKey: documentsQuery(api, name).queryKey })

  async function upload(files: readonly File[]): Promise<void> {
    const fitting = files.filter(({ size }) => size <= maxDocumentBytes)
    const refused = files.filter((file) => !fitting.includes(file))
    if (refused.length > 0) {
      toast({
        title: `${plural(refused.length, 'file')} not uploaded: above 25 MB`,
        description: refused.map((file) => file.name).join(', '),
        tone: 'warning',
      })
    }
    if (fitting.length === 0) return
    setUploading(true)
    try {
      // In sequence, because each file counts towards the total limit.
      for (const file of fitting) {
        const body = new FormData()
        body.set('file', file)
        // The contract has no type for a raw body.
        await api.call(uploadDocument, { params: { name }, body: body as never })
      }
      toast({ title: `${plural(fitting.length, 'file')} uploaded.`, tone: 'success' })
    } catch (error) {
      showFault(error)
    } finally {
      setUploading(false)
      await stale()
    }
  }

  async function download({ id, filename }: WorkspaceDocument): Promise<void> {
    setDownloading(id)
    try {
      const reply = await api.open(downloadDocument, { params: { name, id } })
      if (!reply.ok) throw await errorOf(reply)
      saveBlob(await reply.blob(), filename)
    } catch (error) {
      showFault(error)
    } finally {
      setDownloading(null)
    }
  }

  return {
    /** Files with a pending deletion. */
    pending,
    isUploading,
    downloading,
    upload,
    download,
    remove: ({ id, filename }: WorkspaceDocument) =>
      later({
        id,
        title: 'File deleted.',
        description: filename,
        run: async () => {
          await api.call(deleteDocument, { params: { name, id } }).catch(showFault)
          await stale()
        },
      }),
  }
}
