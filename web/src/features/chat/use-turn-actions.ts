import { ApiError } from '@roost/contracts/client'
import type { ChatMessage, ChatSession } from '@roost/contracts/conversations/chat'
import { maxFiles } from '@roost/contracts/runs/attachments'
import { useMutation } from '@tanstack/react-query'
import { type RefObject, useEffect, useMemo, useRef } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { newKey } from '../../lib/new-key.ts'
import { useApi } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import type { Attachment } from './attachments.ts'
import type { LiveTurn, LiveTurns, SentQuestion } from './live-turns.ts'
import { branchFrom, picturesOf, stopTurn } from './queries.ts'
import { attachmentsOf, storedFiles } from './stored-files.ts'
import type { ComposerState } from './use-composer.ts'
import type { TurnActions, VisibleTurn } from './visible-turns.ts'

export type TurnActionsDeps = {
  agentName: string
  sessionId: string | null
  turns: LiveTurns
  composer: ComposerState
  model: string | null
  input: RefObject<HTMLTextAreaElement | null>
  onBegin: () => Promise<ChatSession>
  /** The first message of a new conversation is being sent. */
  onBegun: (session: ChatSession) => void
  onBranched: (session: ChatSession) => Promise<void>
}

/** What a user can do with turns: send, stop, try again, edit. */
export function useTurnActions(deps: TurnActionsDeps) {
  const { agentName, sessionId, turns, composer, model, input, onBegin, onBegun, onBranched } = deps
  const api = useApi()

  const begin = useMutation({
    mutationFn: onBegin,
    onError: (error) => showFault(error),
  })
  async function send(question: SentQuestion): Promise<void> {
    if (sessionId !== null) return turns.send(sessionId, question)
    const session = await begin.mutateAsync()
    turns.send(session.id, question)
    onBegun(session)
  }
  async function onSend(): Promise<void> {
    const message = await composer.store()
    if (message === null) return input.current?.focus()
    const files = composer.attachments.map(({ id: _, ...file }) => file)
    const question = { message, model, files, key: newKey() }
    if (sessionId !== null) composer.clear()
    await send(question).then(composer.clear, () => input.current?.focus())
  }
  async function onStop({ key, executionId }: LiveTurn): Promise<void> {
    if (executionId === null) return
    turns.markStopping(key, true)
    try {
      await stopTurn(api, agentName, executionId)
    } catch (error) {
      turns.markStopping(key, false)
      showFault(error)
    }
    input.current?.focus()
  }

  /** The pictures of a stored message. Null when it has other files, or a picture was deleted. */
  async function filesOf(question: ChatMessage | null): Promise<File[] | null> {
    if (!question?.files) return []
    return storedFiles(picturesOf(api, agentName, question.session_id), question.files)
  }
  function edit({ stored, live }: Omit<VisibleTurn, 'key'>): void {
    const files = (live?.question?.files ?? []).map((file) => ({ ...file, id: newKey() }))
    const message = live?.question?.message ?? stored?.question?.content ?? ''
    // Unsent text stays, below the message.
    const text = composer.text.trim() === '' ? message : `${message}\n\n${composer.text}`
    // The files were attachments of this page before they were sent.
    const all = [...composer.attachments, ...(files as Attachment[])]
    composer.restore(text, all.length <= maxFiles ? all : composer.attachments)
    if (live?.phase === 'refused') turns.forget(live.key)
    input.current?.focus()
    if (!live?.question) void filesOf(stored?.question ?? null).then((files) => composer.attach(files ?? []))
  }
  async function retry(turn: Omit<VisibleTurn, 'key'>): Promise<void> {
    const { stored, live } = turn
    const files = live?.question ? [] : await filesOf(stored?.question ?? null)
    if (files === null) {
      toast({ title: 'Attach the files again', description: 'Roost stores only the pictures of a message.' })
      edit(turn)
      return
    }
    const before = live?.question ?? {
      message: stored?.question?.content ?? '',
      model,
      files: await attachmentsOf(files),
      key: '',
    }
    // A message without a response may have arrived: the same idempotency key prevents a duplicate.
    const isUnknown = live?.phase === 'refused' && !(live.fault instanceof ApiError)
    if (live?.phase === 'refused') turns.forget(live.key)
    void send({ ...before, key: isUnknown ? before.key : newKey() }).catch(() => {})
  }

  async function branch({ session_id, id }: ChatMessage): Promise<void> {
    try {
      await onBranched(await branchFrom(api, agentName, session_id, id))
      toast({ title: 'Branch created', description: 'The original conversation stays as it is.' })
    } catch (error) {
      showFault(error)
    }
  }

  // A stable identity, so that the turns do not render again.
  const latest = useRef<TurnActions>({ onEdit: edit, onRetry: retry, onBranch: branch })
  useEffect(() => {
    latest.current = { onEdit: edit, onRetry: retry, onBranch: branch }
  })
  const forTurns = useMemo<TurnActions>(
    () => ({
      onEdit: (turn) => latest.current.onEdit(turn),
      onRetry: (turn) => latest.current.onRetry(turn),
      onBranch: (message) => latest.current.onBranch(message),
    }),
    [],
  )
  return { onSend, onStop, forTurns, isBeginning: begin.isPending }
}

function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
