import { ApiError } from '@roost/contracts/client'
import type { RefObject } from 'react'
import type { Attachment } from '../chat/attachments.ts'
import type { LiveTurn, LiveTurns } from '../chat/live-turns.ts'
import type { ComposerState } from '../chat/use-composer.ts'
import { newKey } from '../chat/use-live-turns.ts'
import { complain } from './complain.ts'

type TalkParts = {
  turns: LiveTurns
  sessionId: string
  composer: ComposerState
  input: RefObject<HTMLTextAreaElement | null>
  model: string | null
  stopRun: (executionId: string) => Promise<unknown>
}

/** What a person does with the turns of one conversation. */
export function talkOf({ turns, sessionId, composer, input, model, stopRun }: TalkParts) {
  return {
    send(): void {
      const files = composer.attachments.map(({ id: _, ...file }) => file)
      turns.send(sessionId, { message: composer.text, model, files, key: newKey() })
      composer.clear()
    },
    /** A refused turn goes back to where it was written. */
    edit(turn: LiveTurn): void {
      const files = (turn.asked?.files ?? []).map((file) => ({ ...file, id: newKey() }))
      // They were attachments of this page before they were sent.
      composer.restore(turn.asked?.message ?? '', files as Attachment[])
      turns.forget(turn.key)
      input.current?.focus()
    },
    retry(turn: LiveTurn): void {
      turns.forget(turn.key)
      // Nobody knows whether a message without an answer arrived: under its old key it counts once.
      const key = turn.fault instanceof ApiError ? newKey() : (turn.asked?.key ?? newKey())
      if (turn.asked) turns.send(sessionId, { ...turn.asked, key })
    },
    async stop({ key, executionId }: LiveTurn): Promise<void> {
      if (executionId === null) return
      turns.markStopping(key, true)
      try {
        await stopRun(executionId)
      } catch (error) {
        turns.markStopping(key, false)
        complain(error)
      }
    },
  }
}
