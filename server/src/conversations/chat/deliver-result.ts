import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Executions } from '../../runs/executions/index.ts'
import type { DeliverResult } from '../../triggers/reminders/index.ts'
import { isPerson } from './rules.ts'
import { chatStore } from './store.ts'
import { resultMessage } from './task-results.ts'
import { readyEvent } from './turn-hooks.ts'

export type DeliverResultDeps = {
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  executions: Pick<Executions, 'inFlight' | 'toolCalls'>
}

/** Port of the reminders: adds a result that no request waits for, after the reply in progress. */
export function createDeliverResult({ clock, events, executions }: DeliverResultDeps): DeliverResult {
  return async (tx, { sessionId, row, source, waits }) => {
    const store = chatStore(tx)
    const session = await store.session(sessionId)
    // Strangers see only direct replies, not later work or its failure.
    if (!session || session.kind === 'public') return 'gone'
    if (waits && (await executions.inFlight(tx, [sessionId])).has(sessionId)) return 'busy'
    const now = clock.now()
    const tools = row.status === 'success' ? await executions.toolCalls(tx, row.id) : []
    await store.addMessage(resultMessage(row, session, { tools, source, now }))
    if (isPerson(session.holder_id)) await events.append(tx, readyEvent(session, row), now)
    return 'delivered'
  }
}
