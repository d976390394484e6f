import type { VoiceEndReason } from '@roost/contracts/conversations/voice'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type ExecutionRow, type Executions, executionStore } from '../../runs/executions/index.ts'
import {
  chatStore,
  emptyFigures,
  readyEvent,
  resultMessage,
  type SessionRow,
  titleOf,
} from '../chat/index.ts'
import { type CallRow, voiceStore } from './store.ts'

export type TranscriptDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  executions: Pick<Executions, 'toolCalls'>
  events: Pick<Outbox, 'append'>
  agentRecords: Pick<AgentRecords, 'byId'>
  /** Marks the conversation as read up to now. */
  markHeard(tx: Tx, sessionId: string): Promise<void>
}

/** A spoken line and the runs it reports. `id` is the message's id, so a retry stores nothing twice. */
export type SpokenLine = {
  id: string
  role: 'user' | 'assistant'
  text: string
  at: Date
  executionIds: readonly string[]
}

export type Transcript = ReturnType<typeof createTranscript>

/** Stores the lines of a call as messages, and adds the answers that were not spoken. */
export function createTranscript({ db, clock, executions, events, agentRecords, markHeard }: TranscriptDeps) {
  /** Returns false when the conversation is deleted. */
  async function storeLine(call: CallRow, line: SpokenLine): Promise<boolean> {
    return db.atomically(async (tx) => {
      const store = chatStore(tx)
      if (!(await store.hold(call.session_id))) return false
      // A commit whose response was lost is retried.
      if (await store.message(line.id)) return true
      const session = await store.session(call.session_id)
      if (!session) return false
      const setsTitle = session.title === null && session.kind === 'chat' && line.role === 'user'
      await store.addMessage(
        {
          ...emptyFigures,
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
        setsTitle ? { title: titleOf(line.text) } : {},
      )
      await voiceStore(tx).removeAsks(line.executionIds)
      await markHeard(tx, session.id)
      return true
    })
  }

  /** Stores an unspoken answer as a message. */
  async function storeAnswer(tx: Tx, callId: string, row: ExecutionRow, now: Date): Promise<void> {
    const session = row.session_id === null ? null : await chatStore(tx).session(row.session_id)
    if (!session) return
    const tools = row.status === 'success' ? await executions.toolCalls(tx, row.id) : []
    const message = resultMessage(row, session, { tools, source: 'voice', now })
    await chatStore(tx).addMessage({ ...message, voice_call_id: callId })
    await voiceStore(tx).removeAsks([row.id])
  }

  return {
    storeLine,

    /** Run hook: during the call an answer waits to be spoken; after it, the answer becomes a message. */
    async runEnded(tx: Tx, row: ExecutionRow, now: Date): Promise<void> {
      if (row.triggered_by !== 'voice') return
      const store = voiceStore(tx)
      const ask = await store.askOf(row.id)
      const call = ask && (await store.call(ask.call_id))
      if (!call) return
      // Ending a call locks the conversation too, so one of the two transactions sees the other.
      if (!(await chatStore(tx).hold(call.session_id))) return
      const locked = (await store.call(call.id)) ?? call
      if (locked.ended_at === null) return store.markAnswered(row.id)
      await storeAnswer(tx, call.id, row, now)
    },

    /** Ends the call and stores unspoken answers. Returns false when it had already ended. */
    async end(call: CallRow, reason: VoiceEndReason): Promise<boolean> {
      const agent = await agentRecords.byId(call.agent_id)
      return db.atomically(async (tx) => {
        if (!(await endIn(tx, call, reason))) return false
        const session = await chatStore(tx).session(call.session_id)
        if (agent && session && call.connected_at !== null) await announce(tx, call, session, agent)
        return true
      })
    },
    endIn,
  }

  /** Notifies the person's other clients. */
  async function announce(tx: Tx, call: CallRow, session: SessionRow, agent: Agent): Promise<void> {
    const finishedRun = { id: '', status: 'success', agent_id: agent.id, agent_name: agent.name }
    const { fields, ...event } = readyEvent(session, finishedRun)
    // The event reports no single run.
    const eventFields = { ...fields, execution_id: null, voice_session_id: call.id }
    await events.append(tx, { ...event, fields: eventFields }, clock.now())
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
      if (row) await storeAnswer(tx, call.id, row, now)
    }
    return true
  }
}

export const newLine = (line: Omit<SpokenLine, 'id'>): SpokenLine => ({ id: newId(), ...line })

const maxAttempts = 30
const retryMs = 1000

/** Stores the lines of one call in order during the call, and retries while the database is down. */
export function createLineWriter(
  call: CallRow,
  deps: { clock: Clock; log: Log; transcript: Pick<Transcript, 'storeLine'>; conversationDeleted(): void },
) {
  const { clock, log, transcript, conversationDeleted } = deps
  let last: Promise<void> = Promise.resolve()

  async function write(line: SpokenLine): Promise<void> {
    for (let count = 1; ; count += 1) {
      try {
        if (!(await transcript.storeLine(call, line))) conversationDeleted()
        return
      } catch (error) {
        if (count === maxAttempts) {
          log.error({ err: error, call_id: call.id }, 'a line of a call could not be kept')
          return
        }
        await clock.wait(retryMs)
      }
    }
  }

  return {
    add(line: SpokenLine): void {
      last = last.then(() => write(line))
    },
    /** Resolves when all added lines are stored. */
    written: (): Promise<void> => last,
  }
}
