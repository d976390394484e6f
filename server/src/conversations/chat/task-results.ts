import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { ExecutionRow, Executions, RunHooks } from '../../runs/executions/index.ts'
import type { JoinConversation } from '../../runs/tasks/index.ts'
import { storePictures } from './pictures.ts'
import { isPerson, titleOf } from './rules.ts'
import type { Party, Sessions } from './sessions.ts'
import { chatStore, type MessageRow, type NewMessage, type SessionRow } from './store.ts'
import { questionOf, requireOpen } from './turn.ts'
import { figuresOf, readyEvent } from './turn-hooks.ts'

export type TaskResultsDeps = {
  clock: Pick<Clock, 'now'>
  sessions: Sessions
}

/**
 * Finds the conversation that a task names, or the caller's current one. Only an agent's task for itself may name its
 * conversation with a person; see `namedBySelfTask`. It then stores only the answer, never a question in the person's
 * name.
 */
export function createJoinConversation({ clock, sessions }: TaskResultsDeps): JoinConversation {
  async function find(
    tx: Tx,
    party: Party,
    sessionId: string | null,
    includesForeign: boolean,
  ): Promise<SessionRow> {
    if (sessionId === null) return sessions.ensureCurrent(tx, party)
    return includesForeign
      ? sessions.namedBySelfTask(tx, party, sessionId)
      : sessions.own(party, sessionId, tx)
  }

  return async (tx, party, { sessionId, keeps, isSelfTask }) => {
    const session = await find(tx, party, sessionId, isSelfTask && keeps !== 'turn')
    requireOpen(session)
    const store = chatStore(tx)
    return {
      sessionId: session.id,
      async keep(row, files) {
        if (keeps === 'nothing') return
        await store.awaitResult(row.id, session.id)
        if (keeps === 'result') return
        const now = clock.now()
        const notes = await storePictures(tx, session, { files, now })
        const message = questionOf(row, { sessionId: session.id, files: notes, now })
        const question = { ...message, is_aside: 1 }
        await store.addMessage(question, session.title === null ? { title: titleOf(row.message) } : {})
      },
    }
  }
}

/** Stores the end of a task, also a failure, as a message of the conversation that awaits it. */
export function registerTaskResults(
  hooks: RunHooks,
  { events, executions }: { events: Pick<Outbox, 'append'>; executions: Pick<Executions, 'toolCalls'> },
): void {
  async function storeResult(tx: Tx, row: ExecutionRow, session: SessionRow, now: Date): Promise<void> {
    const store = chatStore(tx)
    const isDone = row.status === 'success'
    if (!isDone && (await store.markFailed(row.id, errorCodeOf(row)))) return
    const tools = isDone ? await executions.toolCalls(tx, row.id) : []
    await store.addMessage(resultMessage(row, session, { tools, source: 'text', now }))
  }

  hooks.onEnded(async (tx, row, now) => {
    if (row.kind !== 'task' || row.session_id === null) return
    const store = chatStore(tx)
    if (!(await store.takeAwaited(row.id))) return
    const session = await store.session(row.session_id)
    if (!session) return
    await storeResult(tx, row, session, now)
    if (isPerson(session.holder_id)) await events.append(tx, readyEvent(session, row), now)
  })
}

/** The message of a run's end, also of a failure. */
export function resultMessage(
  row: ExecutionRow,
  session: Pick<SessionRow, 'id'>,
  { tools, source, now }: { tools: readonly object[]; source: MessageRow['source']; now: Date },
): NewMessage {
  const isDone = row.status === 'success'
  return {
    id: newId(),
    session_id: session.id,
    role: 'assistant',
    content: isDone ? (row.response ?? '') : `The task did not succeed. ${row.error ?? ''}`.trim(),
    timestamp: timestamp(now),
    source,
    execution_id: row.id,
    files: null,
    is_aside: 1,
    ...figuresOf(row, tools),
    error_code: isDone ? null : errorCodeOf(row),
  }
}

function errorCodeOf({ error_code }: ExecutionRow): string {
  return error_code ?? 'agent_error'
}
