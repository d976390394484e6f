import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import { inWorker, TooComplex } from '../../kit/in-worker.ts'
import type { Secret } from '../../kit/secret.ts'
import { type ChatPlatform, ChatPlatformDown } from '../../ports/chat-platform/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Connection } from './connection.ts'
import { maxPieces, splitMarkdown } from './pieces.ts'
import { escapeText, retrySeconds } from './rules.ts'
import { type PostRow, slackStore } from './store.ts'

export type OutgoingDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Log
  platform: Pick<ChatPlatform, 'post' | 'isPosted'>
  connection: Pick<Connection, 'botToken'>
}

export type OutgoingMessage = {
  agentId: string
  channelId: string
  threadTs: string
  /** Null for a notice without a run. Each run gets one answer. */
  executionId: string | null
  markdown: string
}

export type Outgoing = {
  /** Stores the message in the caller's transaction; it is sent after the commit. */
  enqueue(tx: Tx, message: OutgoingMessage): Promise<void>
  /** Sends waiting posts that are due. */
  flush(signal: AbortSignal): Promise<void>
  /** Resolves when the sends started by commits have been attempted. */
  idle(): Promise<void>
  /** Stops sending. Posts in progress are finished, the others stay in the database. */
  close(): Promise<void>
}

/** Exceeds Slack's request timeout. After it another process may claim the post. */
const claimSeconds = 90
/** Age at which an undelivered post is dropped. */
const giveUpSeconds = 24 * 3600
const postsPerFlush = 500
const maxConcurrentThreads = 20

/**
 * Queues posts in the database until Slack accepts them. If the outcome of a post is unknown (no response, process
 * killed), its thread is searched before it is posted again.
 */
export function createOutgoing({ db, clock, log, platform, connection }: OutgoingDeps): Outgoing {
  const store = slackStore(db)
  const closing = new AbortController()
  let flushing: Promise<void> | null = null
  let isFlushRequested = false

  function startFlush(): void {
    if (closing.signal.aborted) return
    isFlushRequested = flushing !== null
    flushing ??= flush(closing.signal)
      // The loop tries again within seconds.
      .catch((error: unknown) => log.warn({ err: error }, 'answers could not be brought to Slack'))
      .finally(() => {
        flushing = null
        if (isFlushRequested) startFlush()
      })
  }

  async function idle(): Promise<void> {
    while (flushing) await flushing
  }

  async function flush(signal: AbortSignal): Promise<void> {
    const unsent = await store.unsent(postsPerFlush)
    const token = unsent.length > 0 ? await connection.botToken() : null
    if (!token) return
    const threads = Map.groupBy(unsent, ({ channel_id, thread_ts }) => `${channel_id} ${thread_ts}`)
    const waiting = threads.values()
    // All take the next thread from the same iterator, so that a slow one delays no other.
    const sendNext = async () => {
      for (const posts of waiting) await sendInOrder(token, posts, signal)
    }
    await Promise.all(Array.from({ length: maxConcurrentThreads }, sendNext))
  }

  /** Sends the posts of a thread in order: each waits for the earlier ones. */
  async function sendInOrder(token: Secret, posts: PostRow[], signal: AbortSignal): Promise<void> {
    for (const post of posts) {
      const isDue = post.due_at <= timestamp(clock.now())
      if (signal.aborted || !isDue || !(await send(token, post, signal))) return
    }
  }

  /** Returns true when the post needs no further attempt. */
  async function send(token: Secret, row: PostRow, signal: AbortSignal): Promise<boolean> {
    const now = clock.now()
    const fields = { post: row.id, channel: row.channel_id, attempts: row.attempts }
    if (secondsLater(new Date(row.created_at), giveUpSeconds) < now) {
      log.error(fields, 'an answer could not be brought to Slack within a day')
      return store.move(row, { state: 'failed' })
    }
    const claim = timestamp(secondsLater(now, claimSeconds))
    const claimed: PostRow = { ...row, state: 'sending', due_at: claim, attempts: row.attempts + 1 }
    if (!(await store.move(row, { state: 'sending', due_at: claim, attempts: claimed.attempts })))
      return false
    const retryLater = (state: PostRow['state'], seconds: number) =>
      store.move(claimed, { state, due_at: timestamp(secondsLater(clock.now(), seconds)) })
    const post = { id: row.id, channelId: row.channel_id, threadTs: row.thread_ts, text: await textOf(row) }
    try {
      if (row.state === 'sending' && (await platform.isPosted(token, post, signal))) {
        return await store.move(claimed, { state: 'sent' })
      }
      const posted = await platform.post(token, post, signal)
      if (posted.ok) return await store.move(claimed, { state: 'sent' })
      if (!posted.later) {
        log.error({ ...fields, code: posted.code }, 'Slack refuses an answer')
        return await store.move(claimed, { state: 'failed' })
      }
      await retryLater('waiting', posted.afterSeconds ?? retrySeconds(row.attempts))
    } catch (error) {
      if (!(error instanceof ChatPlatformDown)) throw error
      log.warn({ ...fields, err: error }, 'Slack does not answer')
      await retryLater('sending', retrySeconds(row.attempts))
    }
    return false
  }

  return {
    async enqueue(tx, { agentId, channelId, threadTs, executionId, markdown }) {
      const now = timestamp(clock.now())
      const pieces = splitMarkdown(markdown)
      const parts = pieces.slice(0, maxPieces)
      if (pieces.length > maxPieces) parts.push('_The answer is longer: the rest is in the platform._')
      await slackStore(tx).addPosts(
        parts.map((piece, part) => ({
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
      tx.onCommitted(startFlush)
    },
    flush,
    idle,
    async close() {
      closing.abort()
      await idle()
    },
  }
}

const toMrkdwn = inWorker<string>(new URL('./mrkdwn.ts', import.meta.url), 'toMrkdwn')

/**
 * Text that is not converted is sent verbatim: Markdown without visible output (a link definition), because Slack
 * refuses empty messages, and Markdown that takes too long.
 */
async function textOf({ text }: PostRow): Promise<string> {
  const converted = await toMrkdwn(text).catch((error: unknown) => {
    if (error instanceof TooComplex) return ''
    throw error
  })
  return converted || escapeText(text)
}
