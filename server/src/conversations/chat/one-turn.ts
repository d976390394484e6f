import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { CheckedFile } from '../../runs/attachments/index.ts'
import type { Dispatch, RunContext, RunRequest } from '../../runs/dispatch/index.ts'
import type { Executions } from '../../runs/executions/index.ts'
import { chatStore, type SessionRow } from './store.ts'
import { questionOf, type Turn } from './turn.ts'
import { refuseWhileTurn } from './turn-in-progress.ts'

export type OneTurnDeps = {
  clock: Pick<Clock, 'now'>
  dispatch: Pick<Dispatch, 'enqueue'>
  executions: Pick<Executions, 'inFlight'>
}

export type OneTurnAsked = Pick<
  RunRequest,
  'triggeredBy' | 'message' | 'source' | 'systemPrompt' | 'note'
> & {
  model: string | null
  files: CheckedFile[]
  /** The conversation gets it; null keeps the one it has. */
  title: string | null
}

/**
 * Takes a turn in where a conversation has one at a time, inside the caller's transaction. Throws
 * `turn_in_progress` with the run that is going on, `conflict` for a closed conversation, `session_not_found` for
 * one that is gone, and what taking a run in throws.
 */
export function createTakeOneTurn({ clock, dispatch, executions }: OneTurnDeps) {
  return async (tx: Tx, fact: RunContext, session: SessionRow, asked: OneTurnAsked): Promise<Turn> => {
    const { files, title, ...request } = asked
    const store = chatStore(tx)
    // Held until the turn is written down: of two messages at once the second finds the first.
    if (!(await store.hold(session.id))) throw new Fault('session_not_found')
    if (session.status === 'closed') throw new Fault('conflict', 'This conversation is archived.')
    await refuseWhileTurn(executions, tx, session.id)
    const { row, position } = await dispatch.enqueue(tx, fact, {
      ...request,
      agentId: fact.id,
      kind: 'chat',
      sessionId: session.id,
      attachments: files,
    })
    await store.addMessage(
      questionOf(row, { sessionId: session.id, files, now: clock.now() }),
      title === null ? {} : { title },
    )
    return { row, session, position }
  }
}
