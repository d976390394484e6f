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
import { checkSignature, readMessage, refusalNotice, type Signed, type SlackMessage } from './rules.ts'
import { slackStore } from './store.ts'

export type ReceiveDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Log
  limits: Pick<RateLimits, 'use'>
  agentRecords: Pick<AgentRecords, 'byId'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  connection: Pick<Connection, 'credentials'>
  outgoing: Pick<Outgoing, 'enqueue'>
}

export type SlackEvent = Signed & {
  /** Parses the body as JSON. Throws `invalid_json`. */
  read(): { type: string; challenge?: string | undefined }
}

/** Everyone in the channel may send messages. */
const noAccount = { userId: null, userEmail: null, agent: null, key: null }

/**
 * Handles Slack's events. Stores a message and its run in one transaction before it responds, so accepted messages
 * survive a crash and repeats start no second run. While the database is down the request fails and Slack retries for
 * hours. Throws `feature_disabled`, `invalid_signature`, `invalid_json`.
 */
export function createReceive(deps: ReceiveDeps) {
  const { db, clock, log, limits, agentRecords, dispatch, connection, outgoing } = deps

  return async function receive(event: SlackEvent): Promise<{ challenge: string } | { ok: true }> {
    const credentials = await connection.credentials()
    if (!credentials) throw new Fault('feature_disabled')
    checkSignature(event, { secret: credentials.signingSecret, now: clock.now() })
    const payload = event.read()
    if (payload.type === 'url_verification') return { challenge: payload.challenge ?? '' }
    const message = readMessage(payload, credentials.botUserId)
    if (message) await handle(message)
    return { ok: true }
  }

  async function handle(message: SlackMessage): Promise<void> {
    const agent = await agentFor(message)
    if (!agent || (await slackStore(db).isHandled(eventRow(message)))) return
    try {
      await limits.use(rateRules.slackMessage, `${message.teamId}:${message.userId}`)
      await startRun(message, agent)
    } catch (error) {
      // Other errors fail the request, so that Slack sends the event again.
      if (!isFault(error)) throw error
      log.info({ agent: agent.name, error: error.code }, 'a message of Slack became no run')
      await refuse(message, agent, error)
    }
  }

  async function agentFor({ isDirect, channelId }: SlackMessage): Promise<Agent | null> {
    const store = slackStore(db)
    const row = isDirect ? await store.dmDefault() : await store.byChannel(channelId)
    return row && agentRecords.byId(row.agent_id)
  }

  async function startRun(message: SlackMessage, agent: Agent): Promise<void> {
    const agentContext = await dispatch.checkAgent(agent.id)
    await dispatch.transaction(async (tx) => {
      if (!(await slackStore(tx).markHandled(eventRow(message)))) return
      const session = await ensureSession(tx, message, agent)
      const { row } = await dispatch.enqueue(tx, agentContext, {
        agentId: agent.id,
        kind: 'chat',
        triggeredBy: 'slack',
        message: message.text,
        source: { principal: session.holder_id, ...noAccount },
        sessionId: session.id,
        metadata: {
          slack: {
            team: message.teamId,
            channel: message.channelId,
            user: message.userId,
            ts: message.messageTs,
          },
        },
      })
      await chatStore(tx).addMessage(
        questionOf(row, { sessionId: session.id, files: [], now: clock.now() }),
        session.title === null ? { title: titleOf(message.text) } : {},
      )
    })
  }

  /** Each thread is one conversation. */
  async function ensureSession(tx: Tx, message: SlackMessage, agent: Agent): Promise<SessionRow> {
    const { channelId: channel_id, threadTs: thread_ts } = message
    const thread = { session_id: newId(), agent_id: agent.id, channel_id, thread_ts }
    const id = await slackStore(tx).ensureThread(thread)
    const existing = await chatStore(tx).session(id)
    if (existing) return existing
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

  /** Posts the reason into the thread; for rate limits at most once a minute. */
  async function refuse(message: SlackMessage, agent: Agent, fault: Fault): Promise<void> {
    const shouldPost = fault.code !== 'rate_limited' || (await mayPostNotice(message))
    await db.atomically(async (tx) => {
      if (!(await slackStore(tx).markHandled(eventRow(message))) || !shouldPost) return
      await outgoing.enqueue(tx, {
        agentId: agent.id,
        channelId: message.channelId,
        threadTs: message.threadTs,
        executionId: null,
        markdown: refusalNotice(fault.code, agent.name),
      })
    })
  }

  async function mayPostNotice({ teamId, userId }: SlackMessage): Promise<boolean> {
    try {
      await limits.use(rateRules.slackNotice, `${teamId}:${userId}`)
      return true
    } catch (error) {
      if (isFault(error, 'rate_limited')) return false
      throw error
    }
  }

  function eventRow({ eventId, channelId, messageTs }: SlackMessage) {
    return {
      event_id: eventId,
      channel_id: channelId,
      message_ts: messageTs,
      received_at: timestamp(clock.now()),
    }
  }
}
