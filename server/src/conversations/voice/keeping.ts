import type { VoiceEndReason } from '@roost/contracts/conversations/voice'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type ExecutionRow, type Executions, executionStore } from '../../runs/executions/index.ts'
import { chatStore, noFigures, readyEvent, resultMessage, type SessionRow, titleOf } from '../chat/index.ts'
import { type CallRow, voiceStore } from './store.ts'

export type KeepingDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  executions: Pick<Executions, 'toolCalls'>
  events: Pick<Outbox, 'append'>
  agentRecords: Pick<AgentRecords, 'byId'>
  /** The person has heard what is in the conversation so far. */
  heard(tx: Tx, sessionId: string): Promise<void>
}

/** What was said, and of which run it tells; `id` of the message, so that trying again saves nothing twice. */
export type SpokenLine = {
  id: string
  role: 'user' | 'assistant'
  text: string
  at: Date
  executionIds: readonly string[]
}

export type Keeping = ReturnType<typeof createKeeping>

/**
 * What remains of a call: its lines as messages of the conversation, and the answers that were not said aloud
 * before it was over.
 */
export function createKeeping({ db, clock, executions, events, agentRecords, heard }: KeepingDeps) {
  /** False: the conversation is gone. */
  async function keepLine(call: CallRow, line: SpokenLine): Promise<boolean> {
    return db.atomically(async (tx) => {
      const store = chatStore(tx)
      if (!(await store.hold(call.session_id))) return false
      // A commit whose answer was lost is tried again.
      if (await store.message(line.id)) return true
      const session = await store.session(call.session_id)
      if (!session) return false
      const isNaming = session.title === null && session.kind === 'chat' && line.role === 'user'
      await store.addMessage(
        {
          ...noFigures,
          id: line.id,
          session_id: session.id,
          role: line.role,
          content: line.text,
          timestamp: timestamp(line.at),
          source: 'voice',
          execution_id: line.executionIds[0] ?? null,
          files: null,
          is_aside: 1,
          voice_call_id: call.id,
        },
        isNaming ? { title: titleOf(line.text) } : {},
      )
      for (const executionId of line.executionIds) await voiceStore(tx).removeAsk(executionId)
      await heard(tx, session.id)
      return true
    })
  }

  /** An answer that nobody has heard is read later. */
  async function keepAnswer(tx: Tx, callId: string, row: ExecutionRow, now: Date): Promise<void> {
    const session = row.session_id === null ? null : await chatStore(tx).session(row.session_id)
    if (!session) return
    const tools = row.status === 'success' ? await executions.toolCalls(tx, row.id) : []
    const message = resultMessage(row, session, { tools, source: 'voice', now })
    await chatStore(tx).addMessage({ ...message, voice_call_id: callId })
    await voiceStore(tx).removeAsk(row.id)
  }

  return {
    keepLine,

    /** Hook of the runs: an answer waits to be said aloud while its call goes on, and is kept after. */
    async runEnded(tx: Tx, row: ExecutionRow, now: Date): Promise<void> {
      if (row.triggered_by !== 'voice') return
      const store = voiceStore(tx)
      const ask = await store.askOf(row.id)
      const call = ask && (await store.call(ask.call_id))
      if (!call) return
      // Whoever ends the call holds the conversation as well: one of the two sees the other.
      if (!(await chatStore(tx).hold(call.session_id))) return
      const held = (await store.call(call.id)) ?? call
      if (held.ended_at === null) return store.noteAnswered(row.id)
      await keepAnswer(tx, call.id, row, now)
    },

    /** False: it was over before. Answers that were not said aloud become messages. */
    async end(call: CallRow, reason: VoiceEndReason): Promise<boolean> {
      const agent = await agentRecords.byId(call.agent_id)
      return db.atomically(async (tx) => {
        if (!(await endIn(tx, call, reason))) return false
        const session = await chatStore(tx).session(call.session_id)
        if (agent && session && call.connected_at !== null) await tell(tx, call, session, agent)
        return true
      })
    },
    endIn,
  }

  /** The person's other pages hear of what was said. */
  async function tell(tx: Tx, call: CallRow, session: SessionRow, agent: Agent): Promise<void> {
    const of = { id: '', status: 'success', agent_id: agent.id, agent_name: agent.name }
    const { fields, ...event } = readyEvent(session, of)
    // There is no one run that it tells of.
    const said = { ...fields, execution_id: null, voice_session_id: call.id }
    await events.append(tx, { ...event, fields: said }, clock.now())
  }

  async function endIn(
    tx: Tx,
    call: Pick<CallRow, 'id' | 'session_id'>,
    reason: VoiceEndReason,
  ): Promise<boolean> {
    const store = voiceStore(tx)
    const now = clock.now()
    await chatStore(tx).hold(call.session_id)
    if (!(await store.end(call.id, timestamp(now), reason))) return false
    for (const executionId of await store.answeredAsks(call.id)) {
      const row = await executionStore(tx).byId(executionId)
      if (row) await keepAnswer(tx, call.id, row, now)
    }
    return true
  }
}

export const newLine = (of: Omit<SpokenLine, 'id'>): SpokenLine => ({ id: newId(), ...of })
