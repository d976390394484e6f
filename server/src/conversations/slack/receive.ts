import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Dispatch } from '../../runs/dispatch/index.ts'
import { blankSession, chatStore, questionOf, type SessionRow, titleOf } from '../chat/index.ts'
import type { Connection } from './connection.ts'
import type { Outgoing } from './outgoing.ts'
import { checkSignature, readSaid, refusalWords, type Said, type Signed } from './rules.ts'
import { slackStore } from './store.ts'

export type ReceiveDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Log
  limits: Pick<RateLimits, 'use'>
  agentRecords: Pick<AgentRecords, 'byId'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  connection: Pick<Connection, 'listening'>
  outgoing: Pick<Outgoing, 'sayIn'>
}

export type SlackEvent = Signed & {
  /** The body as JSON. Throws `invalid_json`. */
  read(): { type: string; challenge?: string | undefined }
}

/** Nobody's account: whoever is in the channel may ask. */
const nobody = { userId: null, userEmail: null, agent: null, key: null }

/**
 * Takes what Slack sends. A message and its run are written in one transaction before Slack is answered, so a
 * message that was taken is not lost, and one that comes again, however Slack repeats it, starts no second run.
 * When the database is away the request fails: Slack sends it again, for hours if need be. Throws
 * `feature_disabled`, `invalid_signature`, `invalid_json`.
 */
export function createReceive(deps: ReceiveDeps) {
  const { db, clock, log, limits, agentRecords, dispatch, connection, outgoing } = deps

  return async function receive(event: SlackEvent): Promise<{ challenge: string } | { ok: true }> {
    const listening = await connection.listening()
    if (!listening) throw new Fault('feature_disabled')
    checkSignature(event, { secret: listening.signingSecret, now: clock.now() })
    const payload = event.read()
    if (payload.type === 'url_verification') return { challenge: payload.challenge ?? '' }
    const said = readSaid(payload, listening.botUserId)
    if (said) await take(said)
    return { ok: true }
  }

  async function take(said: Said): Promise<void> {
    const agent = await agentFor(said)
    if (!agent || (await slackStore(db).isTaken(taken(said)))) return
    try {
      await limits.use(rateRules.slackMessage, `${said.teamId}:${said.userId}`)
      await run(said, agent)
    } catch (error) {
      // Anything else is no answer to a person: the request fails, and Slack sends it again.
      if (!isFault(error)) throw error
      log.info({ agent: agent.name, error: error.code }, 'a message of Slack became no run')
      await refuse(said, agent, error)
    }
  }

  async function agentFor({ isDirect, channelId }: Said): Promise<Agent | null> {
    const store = slackStore(db)
    const row = isDirect ? await store.dmDefault() : await store.byChannel(channelId)
    return row && agentRecords.byId(row.agent_id)
  }

  async function run(said: Said, agent: Agent): Promise<void> {
    const fact = await dispatch.checkAgent(agent.id)
    await dispatch.transaction(async (tx) => {
      if (!(await slackStore(tx).take(taken(said)))) return
      const session = await ensureSession(tx, said, agent)
      const { row } = await dispatch.enqueue(tx, fact, {
        agentId: agent.id,
        kind: 'chat',
        triggeredBy: 'slack',
        message: said.text,
        source: nobody,
        sessionId: session.id,
        metadata: {
          slack: { team: said.teamId, channel: said.channelId, user: said.userId, ts: said.messageTs },
        },
      })
      await chatStore(tx).addMessage(
        questionOf(row, { sessionId: session.id, files: [], now: clock.now() }),
        session.title === null ? { title: titleOf(said.text) } : {},
      )
    })
  }

  /** A thread is a conversation. */
  async function ensureSession(tx: Tx, said: Said, agent: Agent): Promise<SessionRow> {
    const { channelId: channel_id, threadTs: thread_ts } = said
    const place = { session_id: newId(), agent_id: agent.id, channel_id, thread_ts }
    const id = await slackStore(tx).ensureThread(place)
    const present = await chatStore(tx).session(id)
    if (present) return present
    const row: SessionRow = {
      id,
      agent_id: agent.id,
      holder_id: `slack:${channel_id}:${thread_ts}`,
      user_id: agent.owner_id,
      user_email: null,
      title: null,
      kind: 'chat',
      current_key: null,
      started_at: timestamp(clock.now()),
      ...blankSession,
    }
    await chatStore(tx).insertSession(row)
    return row
  }

  /** The person is told in the thread; of too many messages once a minute. */
  async function refuse(said: Said, agent: Agent, fault: Fault): Promise<void> {
    const isTold = fault.code !== 'rate_limited' || (await mayTell(said))
    await db.atomically(async (tx) => {
      if (!(await slackStore(tx).take(taken(said))) || !isTold) return
      await outgoing.sayIn(tx, {
        agentId: agent.id,
        channelId: said.channelId,
        threadTs: said.threadTs,
        executionId: null,
        markdown: refusalWords(fault.code, agent.name),
      })
    })
  }

  async function mayTell({ teamId, userId }: Said): Promise<boolean> {
    try {
      await limits.use(rateRules.slackNotice, `${teamId}:${userId}`)
      return true
    } catch (error) {
      if (isFault(error, 'rate_limited')) return false
      throw error
    }
  }

  function taken({ eventId, channelId, messageTs }: Said) {
    return {
      event_id: eventId,
      channel_id: channelId,
      message_ts: messageTs,
      received_at: timestamp(clock.now()),
    }
  }
}
