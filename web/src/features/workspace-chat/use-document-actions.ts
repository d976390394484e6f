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
import { complain } from './complain.ts'
import { documentsQuery } from './queries.ts'

/** What a person does with the files that the agent was given. */
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
        title: `${plural(refused.length, 'file')} above 25 MB`,
        description: refused.map((file) => file.name).join(', '),
        tone: 'warning',
      })
    }
    if (fitting.length === 0) return
    setUploading(true)
    try {
      // One after another: each counts against what fits together.
      for (const file of fitting) {
        const body = new FormData()
        body.set('file', file)
        // What is sent as it is has no type in the contract.
        await api.call(uploadDocument, { params: { name }, body: body as never })
      }
      toast({ title: `${plural(fitting.length, 'file')} given to the agent.`, tone: 'success' })
    } catch (error) {
      complain(error)
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
      complain(error)
    } finally {
      setDownloading(null)
    }
  }

  return {
    /** Those that are as good as gone. */
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
          await api.call(deleteDocument, { params: { name, id } }).catch(complain)
          await stale()
        },
      }),
  }
}
