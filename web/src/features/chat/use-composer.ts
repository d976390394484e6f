import { maxMessageLength } from '@roost/contracts/runs/request'
import { useEffect, useRef, useState } from 'react'
import { type Attachment, addFiles } from './attachments.ts'
import { createDrafts } from './drafts.ts'
import { newKey } from './use-live-turns.ts'

export type ComposerState = {
  text: string
  setText: (text: string) => void
  attachments: readonly Attachment[]
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
 * without a draft.
 */
export function useComposer(draftKey: string, initial = ''): ComposerState {
  const [drafts] = useState(() => createDrafts(sessionStorage))
  const [text, showText] = useState(() => drafts.read(draftKey) || initial)
  const [attachments, setAttachments] = useState<readonly Attachment[]>([])
  const [refusals, setRefusals] = useState<readonly string[]>([])
  const [shownKey, setShownKey] = useState(draftKey)
  const latest = useRef(attachments)
  useEffect(() => {
    latest.current = attachments
  }, [attachments])

  if (shownKey !== draftKey) {
    setShownKey(draftKey)
    showText(drafts.read(draftKey) || initial)
    setAttachments([])
    setRefusals([])
  }
  const setText = (next: string) => {
    showText(next)
    drafts.write(draftKey, next)
  }
  const excess = Math.max(0, text.length - maxMessageLength)
  return {
    text,
    setText,
    attachments,
    refusals,
    excess,
    isSendable: text.trim() !== '' && excess === 0,
    async attach(files) {
      if (files.length === 0) return
      const added = await addFiles(latest.current, files, newKey)
      setAttachments(added.attachments)
      setRefusals(added.refusals)
    },
    detach(id) {
      setAttachments((before) => before.filter((file) => file.id !== id))
      setRefusals([])
    },
    dismissRefusals: () => setRefusals([]),
    clear() {
      setText('')
      setAttachments([])
      setRefusals([])
    },
    restore(next, files) {
      setText(next)
      setAttachments(files)
    },
  }
}
