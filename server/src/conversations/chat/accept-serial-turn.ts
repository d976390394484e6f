import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { CheckedFile } from '../../runs/attachments/index.ts'
import type { Dispatch, RunContext, RunRequest } from '../../runs/dispatch/index.ts'
import type { Executions } from '../../runs/executions/index.ts'
import { storePictures } from './pictures.ts'
import { chatStore, type SessionRow } from './store.ts'
import { questionOf, type Turn } from './turn.ts'
import { requireNoTurn } from './turn-in-progress.ts'

export type SerialTurnDeps = {
  clock: Pick<Clock, 'now'>
  dispatch: Pick<Dispatch, 'enqueue'>
  executions: Pick<Executions, 'inFlight'>
}

export type SerialTurnRequest = Pick<
  RunRequest,
  'triggeredBy' | 'message' | 'source' | 'systemPrompt' | 'note'
> & {
  model: string | null
  files: CheckedFile[]
  /** Title for the conversation; null keeps the current one. */
  title: string | null
}

/**
 * Accepts a turn in the caller's transaction, for conversations with one turn at a time. Throws `turn_in_progress` with
 * the running execution, `conflict` for a closed conversation, `session_not_found` for a deleted one, and the faults of
 * accepting a run.
 */
export function createAcceptSerialTurn({ clock, dispatch, executions }: SerialTurnDeps) {
  return async (
    tx: Tx,
    agentContext: RunContext,
    session: SessionRow,
    turnRequest: SerialTurnRequest,
  ): Promise<Turn> => {
    const { files, title, ...request } = turnRequest
    const store = chatStore(tx)
    // Locked until the turn is stored, so that a concurrent message finds it.
    if (!(await store.hold(session.id))) throw new Fault('session_not_found')
    if (session.status === 'closed') throw new Fault('conflict', 'This conversation is archived.')
    await requireNoTurn(executions, tx, session.id)
    const { row, position } = await dispatch.enqueue(tx, agentContext, {
      ...request,
      agentId: agentContext.id,
      kind: 'chat',
      sessionId: session.id,
      attachments: files,
    })
    const now = clock.now()
    const notes = await storePictures(tx, session, { files, now })
    await store.addMessage(
      questionOf(row, { sessionId: session.id, files: notes, now }),
      title === null ? {} : { title },
    )
    return { row, session, position }
  }
}
