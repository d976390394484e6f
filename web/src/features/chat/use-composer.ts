import { maxMessageLength } from '@roost/contracts/runs/request'
import { useEffect, useRef, useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { newKey } from '../../lib/new-key.ts'
import { toast } from '../../ui/toast.tsx'
import { type Attachment, addFiles, type WorkspaceFile } from './attachments.ts'
import { createDrafts } from './drafts.ts'
import type { MessageUploads } from './use-message-uploads.ts'
import { uploadsFolder, withPaths } from './workspace-note.ts'

export type ComposerState = {
  text: string
  setText: (text: string) => void
  attachments: readonly Attachment[]
  /** Files that are written to the workspace when the message is sent. */
  workspaceFiles: readonly WorkspaceFile[]
  /** Any file can be added; otherwise only those that a message accepts. */
  takesAnyFile: boolean
  /** The files of the message are being written to the workspace. */
  isStoring: boolean
  /**
   * Writes the files to the workspace and returns the text to send, which names them. Null: a file was not stored, or
   * the user has left the conversation. The draft remains.
   */
  store: () => Promise<string | null>
  attach: (files: readonly File[]) => Promise<void>
  detach: (id: string) => void
  /** One sentence per file that could not be attached. */
  refusals: readonly string[]
  dismissRefusals: () => void
  /** Number of characters over the limit. */
  excess: number
  isSendable: boolean
  clear: () => void
  restore: (text: string, attachments: readonly Attachment[]) => void
}

/**
 * The draft of one conversation. Text is stored under `draftKey`; files are too large for that. `initial` is the text
 * without a draft. Without `uploads` a message takes attachments only.
 */
export function useComposer(
  draftKey: string,
  initial = '',
  uploads: MessageUploads | null = null,
): ComposerState {
  const [drafts] = useState(() => createDrafts(sessionStorage))
  const [text, showText] = useState(() => drafts.read(draftKey) || initial)
  const [attachments, setAttachments] = useState<readonly Attachment[]>([])
  const [workspaceFiles, setWorkspaceFiles] = useState<readonly WorkspaceFile[]>([])
  const [isStoring, setStoring] = useState(false)
  const [refusals, setRefusals] = useState<readonly string[]>([])
  const [shownKey, setShownKey] = useState(draftKey)
  const latest = useRef({ attachments, workspaceFiles })
  /** Null after the page was left. */
  const openKey = useRef<string | null>(draftKey)
  useEffect(() => {
    latest.current = { attachments, workspaceFiles }
  }, [attachments, workspaceFiles])
  useEffect(() => {
    openKey.current = draftKey
    return () => {
      openKey.current = null
    }
  }, [draftKey])

  if (shownKey !== draftKey) {
    setShownKey(draftKey)
    showText(drafts.read(draftKey) || initial)
    setAttachments([])
    setWorkspaceFiles([])
    setStoring(false)
    setRefusals([])
  }
  const setText = (next: string) => {
    showText(next)
    drafts.write(draftKey, next)
  }
  const paths = workspaceFiles.map(({ name }) => `${uploadsFolder}/${name}`)
  const excess = Math.max(0, withPaths(text, paths).length - maxMessageLength)

  async function store(): Promise<string | null> {
    if (uploads === null || workspaceFiles.length === 0) return text
    setStoring(true)
    const stored = await uploads.store(workspaceFiles).catch((error: unknown) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
      return null
    })
    if (openKey.current !== draftKey) {
      toast({
        title: 'Message not sent',
        description: `You left the conversation during an upload to ${uploadsFolder}/.`,
        tone: 'warning',
      })
      return null
    }
    setStoring(false)
    if (stored === null) return null
    uploads.forget(workspaceFiles)
    return withPaths(text, stored)
  }
  return {
    text,
    setText,
    attachments,
    workspaceFiles,
    takesAnyFile: uploads !== null,
    isStoring,
    store,
    refusals,
    excess,
    isSendable: text.trim() !== '' && excess === 0,
    async attach(files) {
      if (files.length === 0) return
      if (isStoring) return setRefusals(['Add further files when the uploads of this message have ended.'])
      const options = { newId: newKey, mayWrite: uploads !== null }
      const added = await addFiles(latest.current, files, options)
      setAttachments(added.attachments)
      setWorkspaceFiles(added.workspaceFiles)
      setRefusals(added.refusals)
    },
    detach(id) {
      uploads?.forget(workspaceFiles.filter((file) => file.id === id))
      setAttachments((before) => before.filter((file) => file.id !== id))
      setWorkspaceFiles((before) => before.filter((file) => file.id !== id))
      setRefusals([])
    },
    dismissRefusals: () => setRefusals([]),
    clear() {
      setText('')
      setAttachments([])
      setWorkspaceFiles([])
      setRefusals([])
    },
    restore(next, files) {
      setText(next)
      setAttachments(files)
    },
  }
}
