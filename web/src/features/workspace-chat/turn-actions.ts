import { ApiError } from '@roost/contracts/client'
import type { RefObject } from 'react'
import { newKey } from '../../lib/new-key.ts'
import type { Attachment } from '../chat/attachments.ts'
import type { LiveTurn, LiveTurns } from '../chat/live-turns.ts'
import type { ComposerState } from '../chat/use-composer.ts'
import { showFault } from './show-fault.ts'

type TurnActionParts = {
  turns: LiveTurns
  sessionId: string
  composer: ComposerState
  input: RefObject<HTMLTextAreaElement | null>
  model: string | null
  stopRun: (executionId: string) => Promise<unknown>
}

/** The user's actions on the turns of one conversation. */
export function createTurnActions({ turns, sessionId, composer, input, model, stopRun }: TurnActionParts) {
  return {
    send(): void {
      const files = composer.attachments.map(({ id: _, ...file }) => file)
      turns.send(sessionId, { message: composer.text, model, files, key: newKey() })
      composer.clear()
    },
    /** Sends a prepared message; the draft stays. */
    ask(message: string): void {
      turns.send(sessionId, { message, model, files: [], key: newKey() })
    },
    /** Moves a refused message back to the composer. */
    edit(turn: LiveTurn): void {
      const files = (turn.question?.files ?? []).map((file) => ({ ...file, id: newKey() }))
      // The files were attachments of this page before they were sent.
      composer.restore(turn.question?.message ?? '', files as Attachment[])
      turns.forget(turn.key)
      input.current?.focus()
    },
    retry(turn: LiveTurn): void {
      turns.forget(turn.key)
      // A message without a response may have arrived: the same idempotency key prevents a duplicate.
      const key = turn.fault instanceof ApiError ? newKey() : (turn.question?.key ?? newKey())
      if (turn.question) turns.send(sessionId, { ...turn.question, key })
    },
    async stop({ key, executionId }: LiveTurn): Promise<void> {
      if (executionId === null) return
      turns.markStopping(key, true)
      try {
        await stopRun(executionId)
      } catch (error) {
        turns.markStopping(key, false)
        showFault(error)
      }
    },
  }
}
