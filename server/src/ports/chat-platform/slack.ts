import { z } from 'zod'
import type { Secret } from '../../kit/secret.ts'
import { type ChatPlatform, ChatPlatformDown } from './port.ts'

export type SlackOptions = {
  /** Of the Web API, without a slash at its end. */
  apiUrl: string
  fetch: typeof fetch
}

const timeoutMs = 30_000
const longestReply = 8 * 1024 * 1024
/** So many replies of a thread are looked through for a message that may have been posted. */
const lookBackReplies = 200

/** Errors of a reply that say nothing about the message: another try may do. */
const passing = new Set([
  'ratelimited',
  'rate_limited',
  'service_unavailable',
  // The app was taken out of the workspace or its token changed: an admin mends that.
  'invalid_auth',
  'not_authed',
  'token_revoked',
  'token_expired',
  'account_inactive',
])

/** After these Slack may have done what was asked all the same, as its reference says. */
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

/** Marks our messages; the payload has their id. */
const eventType = 'roost_post'

/**
 * Slack's Web API: the few methods that are needed, asked once each. Trying again is not done here: what waits to
 * be posted waits in the database, where it survives this process.
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
        // A token must not follow to another host.
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
      const read = Reply.safeParse(text.length > longestReply ? null : parsed(text))
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
      // The app may not look channels up, and can work all the same.
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
        // Slack would fetch what an answer links to: an address may carry what the agent was told to give away.
        unfurl_links: 'false',
        unfurl_media: 'false',
      }
      const { reply, afterSeconds } = await ask('chat.postMessage', token, fields, signal)
      if (reply.ok) return { ok: true }
      const { code } = refused(reply)
      if (unclear.has(code)) throw new ChatPlatformDown(`Slack answered ${code}.`)
      return { ok: false, code, later: passing.has(code), afterSeconds }
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
  if (!found.success) throw new ChatPlatformDown('Slack answered something else than was asked.')
  return found.data
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A page is no answer of the API.
    return null
  }
}
