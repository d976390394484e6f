import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Secret } from '../../kit/secret.ts'
import { type ChatPlatform, ChatPlatformDown } from '../../ports/chat-platform/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Connection } from './connection.ts'
import { cut, mostPieces } from './pieces.ts'
import { retrySeconds } from './rules.ts'
import { type PostRow, slackStore } from './store.ts'

export type OutgoingDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Log
  platform: Pick<ChatPlatform, 'post' | 'isPosted'>
  connection: Pick<Connection, 'botToken'>
}

export type Saying = {
  agentId: string
  channelId: string
  threadTs: string
  /** Null: a notice that belongs to no run. Of a run one thing is said. */
  executionId: string | null
  markdown: string
}

export type Outgoing = {
  /** Written down in the caller's transaction; on its way as soon as that is committed. */
  sayIn(tx: Tx, saying: Saying): Promise<void>
  /** Posts what waits and is due. */
  flush(signal: AbortSignal): Promise<void>
  /** What was sent off after a commit has been tried. */
  settled(): Promise<void>
  /** What was on its way when this is called has left, or waits in the database. */
  close(): Promise<void>
}

/** Longer than Slack is waited for; after that another process may take a post over. */
const claimSeconds = 90
/** What could not be said for so long is not said any more. */
const giveUpSeconds = 24 * 3600
const atOnce = 500
const threadsAtOnce = 20

/**
 * What is said in Slack waits in the database until Slack has it. A post whose fate is not known (Slack did not
 * answer, this process was killed) is looked for in its thread before it is posted again.
 */
export function createOutgoing({ db, clock, log, platform, connection }: OutgoingDeps): Outgoing {
  const store = slackStore(db)
  const closing = new AbortController()
  let flushing: Promise<void> | null = null
  let isAskedAgain = false

  function kick(): void {
    if (closing.signal.aborted) return
    isAskedAgain = flushing !== null
    flushing ??= flush(closing.signal)
      // The loop tries again within seconds.
      .catch((error: unknown) => log.warn({ err: error }, 'answers could not be brought to Slack'))
      .finally(() => {
        flushing = null
        if (isAskedAgain) kick()
      })
  }

  async function settled(): Promise<void> {
    while (flushing) await flushing
  }

  async function flush(signal: AbortSignal): Promise<void> {
    const unsent = await store.unsent(atOnce)
    const token = unsent.length > 0 ? await connection.botToken() : null
    if (!token) return
    const threads = Map.groupBy(unsent, ({ channel_id, thread_ts }) => `${channel_id} ${thread_ts}`)
    const waiting = [...threads.values()]
    while (waiting.length > 0 && !signal.aborted) {
      await Promise.all(waiting.splice(0, threadsAtOnce).map((posts) => sayInOrder(token, posts, signal)))
    }
  }

  /** What comes later in a thread waits for what comes before it. */
  async function sayInOrder(token: Secret, posts: PostRow[], signal: AbortSignal): Promise<void> {
    for (const post of posts) {
      const isDue = post.due_at <= timestamp(clock.now())
      if (signal.aborted || !isDue || !(await say(token, post, signal))) return
    }
  }

  /** True when it is done with, one way or the other. */
  async function say(token: Secret, row: PostRow, signal: AbortSignal): Promise<boolean> {
    const now = clock.now()
    const facts = { post: row.id, channel: row.channel_id, attempts: row.attempts }
    if (secondsLater(new Date(row.created_at), giveUpSeconds) < now) {
      log.error(facts, 'an answer could not be brought to Slack within a day')
      return store.move(row, { state: 'failed' })
    }
    const claim = timestamp(secondsLater(now, claimSeconds))
    const claimed: PostRow = { ...row, state: 'sending', due_at: claim, attempts: row.attempts + 1 }
    if (!(await store.move(row, { state: 'sending', due_at: claim, attempts: claimed.attempts })))
      return false
    const later = (state: PostRow['state'], seconds: number) =>
      store.move(claimed, { state, due_at: timestamp(secondsLater(clock.now(), seconds)) })
    const post = { id: row.id, channelId: row.channel_id, threadTs: row.thread_ts, text: await textOf(row) }
    try {
      if (row.state === 'sending' && (await platform.isPosted(token, post, signal))) {
        return await store.move(claimed, { state: 'sent' })
      }
      const posted = await platform.post(token, post, signal)
      if (posted.ok) return await store.move(claimed, { state: 'sent' })
      if (!posted.later) {
        log.error({ ...facts, code: posted.code }, 'Slack refuses an answer')
        return await store.move(claimed, { state: 'failed' })
      }
      await later('waiting', posted.afterSeconds ?? retrySeconds(row.attempts))
    } catch (error) {
      if (!(error instanceof ChatPlatformDown)) throw error
      log.warn({ ...facts, err: error }, 'Slack does not answer')
      await later('sending', retrySeconds(row.attempts))
    }
    return false
  }

  return {
    async sayIn(tx, { agentId, channelId, threadTs, executionId, markdown }) {
      const now = timestamp(clock.now())
      const pieces = cut(markdown)
      const told = pieces.slice(0, mostPieces)
      if (pieces.length > mostPieces) told.push('_The answer is longer: the rest is in the platform._')
      await slackStore(tx).addPosts(
        told.map((piece, part) => ({
          id: newId(),
          agent_id: agentId,
          channel_id: channelId,
          thread_ts: threadTs,
          execution_id: executionId,
          part,
          text: piece,
          state: 'waiting' as const,
          attempts: 0,
          created_at: now,
          due_at: now,
        })),
      )
      tx.onCommitted(kick)
    },
    flush,
    settled,
    async close() {
      closing.abort()
      await settled()
    },
  }
}

/**
 * Markdown that shows nothing (a link's definition) is said as it is: Slack takes no empty message. What reads Markdown
 * is read with the first post.
 */
async function textOf({ text }: PostRow): Promise<string> {
  const { escaped, toMrkdwn } = await import('./mrkdwn.ts')
  return toMrkdwn(text) || escaped(text)
}
