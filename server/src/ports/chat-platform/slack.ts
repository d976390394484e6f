import { z } from 'zod'
import type { Secret } from '../../kit/secret.ts'
import { type ChatPlatform, ChatPlatformDown } from './port.ts'

export type SlackOptions = {
  /** Base address of the Web API, without a trailing slash. */
  apiUrl: string
  fetch: typeof fetch
}

const timeoutMs = 30_000
const maxReplyLength = 8 * 1024 * 1024
/** Replies of a thread that are searched for a message of unknown outcome. */
const lookBackReplies = 200

/** Errors after which a retry may succeed. */
const retryable = new Set([
  'ratelimited',
  'rate_limited',
  'service_unavailable',
  // The app was removed from the workspace or its token changed; an admin can fix that.
  'invalid_auth',
  'not_authed',
  'token_revoked',
  'token_expired',
  'account_inactive',
])

/** According to Slack's reference, the request may have been executed despite these errors. */
const unclear = new Set(['internal_error', 'fatal_error', 'request_timeout'])

const Reply = z.looseObject({ ok: z.boolean(), error: z.string().optional() })
type Reply = z.output<typeof Reply>
const Identity = z.object({
  team_id: z.string(),
  team: z.string(),
  user_id: z.string(),
  user: z.string(),
})
const Channel = z.object({
  channel: z.object({ name: z.string().optional(), is_member: z.boolean().optional() }),
})
const Replies = z.object({
  messages: z.array(
    z.looseObject({
      metadata: z
        .object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()) })
        .optional(),
    }),
  ),
})

/** Marks own messages; the payload contains their id. */
const eventType = 'roost_post'

/**
 * Slack's Web API, limited to the required methods. Makes one attempt per call: pending posts wait in the
 * database, where they survive this process.
 */
export function createSlack({ apiUrl, fetch }: SlackOptions): ChatPlatform {
  async function ask(
    method: string,
    token: Secret,
    fields: Record<string, string>,
    signal = AbortSignal.any([]),
  ): Promise<{ reply: Reply; status: number; afterSeconds: number | null }> {
    try {
      const response = await fetch(`${apiUrl}/${method}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token.reveal()}`, 'user-agent': 'roost' },
        body: new URLSearchParams(fields),
        // Redirects must not send the token to another host.
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      })
      const text = await response.text()
      const { status } = response
      if (status === 429) {
        const wait = Number(response.headers.get('retry-after') ?? '')
        const afterSeconds = Number.isFinite(wait) && wait > 0 ? wait : null
        return { reply: { ok: false, error: 'ratelimited' }, status, afterSeconds }
      }
      const read = Reply.safeParse(text.length > maxReplyLength ? null : parsed(text))
      if (status !== 200 || !read.success) throw new ChatPlatformDown(`Slack answered ${status}.`)
      return { reply: read.data, status, afterSeconds: null }
    } catch (cause) {
      if (cause instanceof ChatPlatformDown) throw cause
      throw new ChatPlatformDown('Slack cannot be reached.', { cause })
    }
  }

  return {
    async whoAmI(token) {
      const { reply } = await ask('auth.test', token, {})
      if (!reply.ok) return refused(reply)
      const { team_id, team, user_id, user } = read(Identity, reply)
      return {
        ok: true,
        identity: { teamId: team_id, workspaceName: team, botUserId: user_id, botUser: user },
      }
    },

    async channel(token, channelId) {
      const { reply } = await ask('conversations.info', token, { channel: channelId })
      // The app lacks the scope for lookups but can still post.
      if (reply.error === 'missing_scope') return { ok: true, channel: { name: null, isMember: null } }
      if (!reply.ok) return refused(reply)
      const { channel } = read(Channel, reply)
      return { ok: true, channel: { name: channel.name ?? null, isMember: channel.is_member ?? null } }
    },

    async post(token, { id, channelId, threadTs, text }, signal) {
      const fields = {
        channel: channelId,
        thread_ts: threadTs,
        text,
        metadata: JSON.stringify({ event_type: eventType, event_payload: { post_id: id } }),
        // Prevents Slack from fetching links: an address may contain data that an agent was tricked into
        // leaking.
        unfurl_links: 'false',
        unfurl_media: 'false',
      }
      const { reply, afterSeconds } = await ask('chat.postMessage', token, fields, signal)
      if (reply.ok) return { ok: true }
      const { code } = refused(reply)
      if (unclear.has(code)) throw new ChatPlatformDown(`Slack answered ${code}.`)
      return { ok: false, code, later: retryable.has(code), afterSeconds }
    },

    async isPosted(token, { id, channelId, threadTs }, signal) {
      const fields = {
        channel: channelId,
        ts: threadTs,
        limit: String(lookBackReplies),
        include_all_metadata: 'true',
      }
      const { reply, status } = await ask('conversations.replies', token, fields, signal)
      if (status === 429) throw new ChatPlatformDown('Slack asks to wait.')
      if (!reply.ok) return false
      return read(Replies, reply).messages.some(
        ({ metadata }) => metadata?.event_type === eventType && metadata.event_payload.post_id === id,
      )
    },
  }
}

function refused({ error }: Reply) {
  return { ok: false as const, code: error ?? 'unknown_error' }
}

function read<T extends z.ZodType>(shape: T, reply: Reply): z.output<T> {
  const found = shape.safeParse(reply)
  if (!found.success) throw new ChatPlatformDown('Slack sent a response in an invalid format.')
  return found.data
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // An HTML page is not a response of the API.
    return null
  }
}
