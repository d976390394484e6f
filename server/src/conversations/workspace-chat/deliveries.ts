import { agentStore } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Users } from '../../identity/users/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { ExecutionRow, Executions, RunHooks } from '../../runs/executions/index.ts'
import { chatStore, emptyFigures, readyEvent, type SessionRow } from '../chat/index.ts'
import type { Conversations } from './conversations.ts'
import { addressCaller, holderOfAddress } from './principal.ts'
import type { Roster } from './roster.ts'
import { type DeliveryRow, workspaceStore } from './store.ts'

/** The output of a run as one message for a person. */
export type Delivery = {
  agentId: string
  /** The person whose Main gets the message, or a conversation. */
  to: { email: string } | { sessionId: string }
  text: string
  source: 'schedule' | 'reminder'
  /** Identifies the fire by its first attempt, which gets at most one message. */
  key: string
  /** The run with this output; the delivery is recorded on it. */
  executionId: string
}
export type Delivered = {
  status: 'delivered' | 'pending' | 'failed'
  message_id: string | null
  error: string | null
}

export type DeliveriesDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  hooks: Pick<RunHooks, 'onEnded' | 'onRemoving'>
  executions: Pick<Executions, 'inFlight'>
  users: Pick<Users, 'holderOf'>
  conversations: Pick<Conversations, 'ensureMain'>
  roster: Pick<Roster, 'canReceive'>
}

export type Deliveries = {
  /**
   * Runs in the transaction that ends the run. A turn in progress delays the message by up to two minutes. `failed`
   * with `recipient_unreachable` for an address without access, with a sentence for other reasons.
   */
  deliver(tx: Tx, delivery: Delivery): Promise<Delivered>
  /** Delivers the output or failure of a schedule's run to the Main of this address, once for each fire. */
  deliverRun(tx: Tx, run: { row: ExecutionRow; email: string }): Promise<void>
  /** Delivers the messages that have waited long enough. */
  flush(signal: AbortSignal): Promise<void>
}

const maxWaitSeconds = 120

export function createDeliveries(deps: DeliveriesDeps): Deliveries {
  const { db, clock, events, hooks, executions, users, conversations, roster } = deps

  /** Null when the conversation is missing or archived. */
  async function sessionFor(tx: Tx, { agentId, to }: Delivery): Promise<SessionRow | null> {
    if ('sessionId' in to) {
      const row = await chatStore(tx).session(to.sessionId)
      return row?.agent_id === agentId && row.status === 'active' ? row : null
    }
    const email = to.email.toLowerCase()
    const account = await users.holderOf(tx, email)
    const caller = addressCaller(email, account?.email === email ? account : null, '')
    return conversations.ensureMain(tx, { holder: holderOfAddress(email), caller }, agentId)
  }

  async function finish(tx: Tx, row: DeliveryRow, delivered: Delivered): Promise<Delivered> {
    const store = workspaceStore(tx)
    const { session_id } = row
    if (!(await store.endDelivery(row.key, { ...delivered, session_id }))) return delivered
    await store.noteDelivery(row.execution_id, noteOf(row.email, delivered))
    return delivered
  }

  /** Appends the message to its conversation, which is locked. */
  async function deliverNow(tx: Tx, row: DeliveryRow, session: SessionRow): Promise<Delivered> {
    // The address may have lost access during the wait.
    if (row.email !== null && !(await roster.canReceive(tx, row.agent_id, row.email))) {
      return finish(tx, row, unreachable)
    }
    const now = clock.now()
    const id = newId()
    await chatStore(tx).addMessage({
      id,
      session_id: session.id,
      role: 'assistant',
      content: row.content,
      timestamp: timestamp(now),
      source: row.source,
      execution_id: row.execution_id,
      files: null,
      is_aside: 1,
      ...emptyFigures,
    })
    const agent = await agentStore(tx).byId(row.agent_id)
    if (agent) {
      const run = { id: row.execution_id, status: 'success', agent_id: agent.id, agent_name: agent.name }
      await events.append(tx, readyEvent(session, run), now)
    }
    return finish(tx, row, { status: 'delivered', message_id: id, error: null })
  }

  hooks.onEnded(async (tx, run) => {
    if (run.kind !== 'chat' || run.session_id === null) return
    const pendingRows = await workspaceStore(tx).waitingFor(run.session_id)
    if (pendingRows.length === 0) return
    const session = await chatStore(tx).session(run.session_id)
    for (const row of pendingRows) if (session) await deliverNow(tx, row, session)
  })

  hooks.onRemoving((tx, ids) => workspaceStore(tx).removeDeliveries(ids))

  const deliveries: Deliveries = {
    async deliverRun(tx, { row, email }) {
      await deliveries.deliver(tx, {
        agentId: row.agent_id,
        to: { email },
        text: outputOf(row),
        source: 'schedule',
        key: row.retry_of_execution_id ?? row.id,
        executionId: row.id,
      })
    },

    async deliver(tx, delivery) {
      const { agentId, to, text, source, key, executionId } = delivery
      const store = workspaceStore(tx)
      const email = 'email' in to ? to.email.toLowerCase() : null
      const refuse = async (result: Delivered) => {
        await store.noteDelivery(executionId, noteOf(email, result))
        return result
      }
      const earlier = await store.delivery(key)
      if (earlier) return { status: earlier.status, message_id: earlier.message_id, error: earlier.error }
      if (text.trim() === '') return refuse(failed('The run had no output.'))
      if (email !== null && !(await roster.canReceive(tx, agentId, email))) return refuse(unreachable)
      const session = await sessionFor(tx, delivery)
      if (!session) return refuse(failed('The conversation is gone.'))
      // The lock orders this delivery and concurrent turns.
      await chatStore(tx).hold(session.id)
      const isBusy = (await executions.inFlight(tx, [session.id])).has(session.id)
      const now = clock.now()
      const row: DeliveryRow = {
        key,
        agent_id: agentId,
        email,
        session_id: session.id,
        execution_id: executionId,
        source,
        content: text,
        status: 'pending',
        error: null,
        message_id: null,
        created_at: timestamp(now),
        due_at: isBusy ? timestamp(secondsLater(now, maxWaitSeconds)) : null,
      }
      const pending: Delivered = { status: 'pending', message_id: null, error: null }
      if (!(await store.addDelivery(row))) return pending
      if (!isBusy) return deliverNow(tx, row, session)
      await store.noteDelivery(executionId, noteOf(email, pending))
      return pending
    },

    async flush(signal) {
      for (const row of await workspaceStore(db).overdue(timestamp(clock.now()))) {
        if (signal.aborted) return
        await db.atomically(async (tx) => {
          const session = row.session_id === null ? null : await chatStore(tx).session(row.session_id)
          if (!session) return finish(tx, row, failed('The conversation is gone.'))
          await chatStore(tx).hold(session.id)
          const now = await workspaceStore(tx).delivery(row.key)
          return now?.status === 'pending' ? deliverNow(tx, now, session) : null
        })
      }
    },
  }
  return deliveries
}

function outputOf({ status, response, error }: ExecutionRow): string {
  return status === 'success' ? (response ?? '') : `The scheduled run did not succeed. ${error ?? ''}`.trim()
}

const unreachable: Delivered = { status: 'failed', message_id: null, error: 'recipient_unreachable' }

function failed(error: string): Delivered {
  return { status: 'failed', message_id: null, error }
}

/** The delivery as the run's record shows it. */
function noteOf(email: string | null, { status, message_id, error }: Delivered) {
  return { email, status, ...(message_id ? { message_id } : {}), ...(error ? { error } : {}) }
}
