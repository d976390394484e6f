import {
  defaultVoice,
  type VoiceEndReason,
  voiceLongestSeconds,
  voiceTicketSeconds,
} from '@roost/contracts/conversations/voice'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Dispatch } from '../../runs/dispatch/index.ts'
import type { Executions } from '../../runs/executions/index.ts'
import { chatStore, type MessageRow, requireNoTurn, type SessionRow } from '../chat/index.ts'
import type { CallPerson } from './identity.ts'
import { durationOf } from './rules.ts'
import { type CallParty, type CallRow, voiceStore } from './store.ts'
import type { CallTickets } from './tickets.ts'
import type { Transcript } from './transcript.ts'

export type CallsDeps = {
  db: Db
  clock: Clock
  limits: Pick<RateLimits, 'use'>
  dispatch: Pick<Dispatch, 'checkAgent'>
  executions: Pick<Executions, 'inFlight'>
  /** The key of the voice provider; null when none is configured. */
  voiceKey(): Secret | null
  tickets: CallTickets
  transcript: Transcript
  /**
   * Requests the end of a call from the process that carries it. Resolves when a call of this process has ended; null
   * when another process may carry it.
   */
  requestEnd(id: string, reason: VoiceEndReason): Promise<void> | null
}

export type Started = { call: CallRow; session: SessionRow; websocketUrl: string }
export type Stopped = {
  transcript: { role: MessageRow['role']; text: string; at: string }[]
  messages_saved: number
  duration_seconds: number
}

const stopTimeoutMs = 5000
const pollMs = 100
const maxOverduePerSweep = 100

export type Calls = ReturnType<typeof createCalls>

/** Starts, stops and lists calls. `live-call.ts` carries them. */
export function createCalls(deps: CallsDeps) {
  const { db, clock, limits, dispatch, executions, voiceKey, tickets, transcript, requestEnd } = deps
  const store = voiceStore(db)

  /** A person has one call per agent, so a new call ends the previous one. */
  async function endOthers(tx: Tx, party: CallParty): Promise<string[]> {
    const others = await voiceStore(tx).unendedOf(party)
    for (const other of others) await transcript.endIn(tx, other, 'replaced')
    return others.map(({ id }) => id)
  }

  function newCall(agentId: string, holder: string, session: SessionRow, voiceName: string): CallRow {
    const now = clock.now()
    return {
      id: newId(),
      agent_id: agentId,
      session_id: session.id,
      holder_id: holder,
      voice_name: voiceName,
      created_at: timestamp(now),
      connected_at: null,
      ends_at: timestamp(secondsLater(now, voiceTicketSeconds)),
      ended_at: null,
      end_reason: null,
    }
  }

  async function stopResult(call: CallRow): Promise<Stopped> {
    const messages = await chatStore(db).messagesOfCall(call.session_id, call.id)
    return {
      transcript: messages.map(({ role, content, timestamp }) => ({ role, text: content, at: timestamp })),
      messages_saved: messages.length,
      duration_seconds: durationOf(call),
    }
  }

  async function waitForEnd(id: string): Promise<void> {
    for (let waited = 0; waited < stopTimeoutMs; waited += pollMs) {
      const call = await store.call(id)
      if (!call || call.ended_at !== null) return
      await clock.wait(pollMs)
    }
  }

  /** Waits until the process that carries the call has stored its last lines; gives up if that process is dead. */
  async function endCall(call: CallRow): Promise<CallRow> {
    const ended = call.connected_at === null ? Promise.resolve() : requestEnd(call.id, 'stopped')
    await (ended ?? waitForEnd(call.id))
    await transcript.end(call, 'stopped')
    return (await store.call(call.id)) ?? call
  }

  return {
    /**
     * `session` finds the conversation. Throws its faults and `not_configured`, `agent_not_running`,
     * `turn_in_progress`, `conflict`, `rate_limited`, `ephemeral_unavailable`.
     */
    async start(
      { caller, holder, identity }: CallPerson,
      agentId: string,
      request: { voiceName: string | null; session(tx: Tx): Promise<SessionRow> },
    ): Promise<Started> {
      if (voiceKey() === null) throw new Fault('not_configured', 'The platform has no key for voices.')
      await dispatch.checkAgent(agentId)
      await limits.use(rateRules.socketTicket, caller.user.id)
      const voiceName = request.voiceName ?? (await store.voiceOf(agentId)).voice_name ?? defaultVoice
      const { call, session, replaced } = await db.atomically(async (tx) => {
        const session = await request.session(tx)
        if (!(await chatStore(tx).hold(session.id))) throw new Fault('session_not_found')
        if (session.status === 'closed') throw new Fault('conflict', 'This conversation is closed.')
        await requireNoTurn(executions, tx, session.id)
        const replaced = await endOthers(tx, { agentId, holder })
        const call = newCall(agentId, holder, session, voiceName)
        await voiceStore(tx).insertCall(call)
        return { call, session, replaced }
      })
      for (const id of replaced) void requestEnd(id, 'replaced')
      const ticket = await tickets.mint({ call: call.id, holder, identity })
      return { call, session, websocketUrl: `/ws/voice/${call.id}?ticket=${ticket}` }
    },

    /** Throws `session_not_found` for calls of other people. */
    async stop({ agentId, holder }: CallParty, id: string): Promise<Stopped> {
      const call = await store.call(id)
      if (call?.agent_id !== agentId || call.holder_id !== holder) throw new Fault('session_not_found')
      return stopResult(call.ended_at === null ? await endCall(call) : call)
    },

    active: (party: CallParty) => store.active(party, timestamp(clock.now())),

    /** Claims the call for this process; null when it has ended or another process claimed it. */
    async connect(id: string): Promise<CallRow | null> {
      const now = clock.now()
      const ends = timestamp(secondsLater(now, voiceLongestSeconds))
      return (await store.connect(id, timestamp(now), ends)) ? store.call(id) : null
    },

    /** Ends calls of crashed processes, and calls that nobody joined. */
    async sweep(): Promise<void> {
      for (const call of await store.overdue(timestamp(clock.now()), maxOverduePerSweep)) {
        await transcript.end(call, call.connected_at === null ? 'not_answered' : 'time_limit')
      }
    },
  }
}
