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
import { chatStore, type MessageRow, refuseWhileTurn, type SessionRow } from '../chat/index.ts'
import type { Person } from './identity.ts'
import type { Keeping } from './keeping.ts'
import { durationOf } from './rules.ts'
import { type CallParty, type CallRow, voiceStore } from './store.ts'
import type { CallTickets } from './tickets.ts'

export type CallsDeps = {
  db: Db
  clock: Clock
  limits: Pick<RateLimits, 'use'>
  dispatch: Pick<Dispatch, 'checkAgent'>
  executions: Pick<Executions, 'inFlight'>
  /** Of the provider of voices; null: there is none. */
  voiceKey(): Secret | null
  tickets: CallTickets
  keeping: Keeping
  /**
   * Asks the process that carries the call to end it. In this one: resolves when it is over; null: perhaps another
   * one carries it.
   */
  askToEnd(id: string, reason: VoiceEndReason): Promise<void> | null
}

export type Started = { call: CallRow; session: SessionRow; websocketUrl: string }
export type Stopped = {
  transcript: { role: MessageRow['role']; text: string; at: string }[]
  messages_saved: number
  duration_seconds: number
}

const stopPatienceMs = 5000
const lookEveryMs = 100
const overdueAtOnce = 100

export type Calls = ReturnType<typeof createCalls>

/** Calls as they are begun, ended and told of; who carries them is another's business. */
export function createCalls(deps: CallsDeps) {
  const { db, clock, limits, dispatch, executions, voiceKey, tickets, keeping, askToEnd } = deps
  const store = voiceStore(db)

  /** One call of a person with an agent: the one before ends. */
  async function endOthers(tx: Tx, party: CallParty): Promise<string[]> {
    const others = await voiceStore(tx).unended(party)
    for (const other of others) await keeping.endIn(tx, other, 'replaced')
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

  async function stoppedOf(call: CallRow): Promise<Stopped> {
    const messages = await chatStore(db).messagesOfCall(call.session_id, call.id)
    return {
      transcript: messages.map(({ role, content, timestamp }) => ({ role, text: content, at: timestamp })),
      messages_saved: messages.length,
      duration_seconds: durationOf(call),
    }
  }

  async function overThere(id: string): Promise<void> {
    for (let waited = 0; waited < stopPatienceMs; waited += lookEveryMs) {
      const call = await store.call(id)
      if (!call || call.ended_at !== null) return
      await clock.wait(lookEveryMs)
    }
  }

  /** The process that carries it writes its last lines first; one that is gone is not waited for. */
  async function over(call: CallRow): Promise<CallRow> {
    const here = call.connected_at === null ? Promise.resolve() : askToEnd(call.id, 'stopped')
    await (here ?? overThere(call.id))
    await keeping.end(call, 'stopped')
    return (await store.call(call.id)) ?? call
  }

  return {
    /**
     * `session` finds the conversation and throws what it does. Throws `not_configured`, `agent_not_running`,
     * `turn_in_progress`, `conflict`, `rate_limited`, `ephemeral_unavailable`.
     */
    async start(
      { caller, holder, kept }: Person,
      agentId: string,
      asked: { voiceName: string | null; session(tx: Tx): Promise<SessionRow> },
    ): Promise<Started> {
      if (voiceKey() === null) throw new Fault('not_configured', 'The platform has no key for voices.')
      await dispatch.checkAgent(agentId)
      await limits.use(rateRules.socketTicket, caller.user.id)
      const voiceName = asked.voiceName ?? (await store.voiceOf(agentId)).voice_name ?? defaultVoice
      const { call, session, replaced } = await db.atomically(async (tx) => {
        const session = await asked.session(tx)
        if (!(await chatStore(tx).hold(session.id))) throw new Fault('session_not_found')
        if (session.status === 'closed') throw new Fault('conflict', 'This conversation is closed.')
        await refuseWhileTurn(executions, tx, session.id)
        const replaced = await endOthers(tx, { agentId, holder })
        const call = newCall(agentId, holder, session, voiceName)
        await voiceStore(tx).insertCall(call)
        return { call, session, replaced }
      })
      for (const id of replaced) void askToEnd(id, 'replaced')
      const ticket = await tickets.mint({ call: call.id, holder, kept })
      return { call, session, websocketUrl: `/ws/voice/${call.id}?ticket=${ticket}` }
    },

    /** Throws `session_not_found` for what is not the party's own. */
    async stop({ agentId, holder }: CallParty, id: string): Promise<Stopped> {
      const call = await store.call(id)
      if (call?.agent_id !== agentId || call.holder_id !== holder) throw new Fault('session_not_found')
      return stoppedOf(call.ended_at === null ? await over(call) : call)
    },

    active: (party: CallParty) => store.active(party, timestamp(clock.now())),

    /** Takes the call up; null when it is over or somebody else has. */
    async connect(id: string): Promise<CallRow | null> {
      const now = clock.now()
      const ends = timestamp(secondsLater(now, voiceLongestSeconds))
      return (await store.connect(id, timestamp(now), ends)) ? store.call(id) : null
    },

    /** Of processes that are gone, and of people who never came. */
    async sweep(): Promise<void> {
      for (const call of await store.overdue(timestamp(clock.now()), overdueAtOnce)) {
        await keeping.end(call, call.connected_at === null ? 'not_answered' : 'time_limit')
      }
    },
  }
}
