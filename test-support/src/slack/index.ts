/**
 * Slack for tests: the Web API methods that Roost uses, on a free loopback port, and signed events like
 * Slack's. Written from Slack's public reference.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'

export const slackApp = {
  token: 'xoxb-test-token',
  signingSecret: '8f742231b10e8888abcd99yyyzzz85a5',
  teamId: 'T0001',
  workspace: 'Nest',
  botUserId: 'U0BOT',
  botUser: 'roost',
}

export type SlackMessage = {
  channel: string
  thread_ts: string | null
  text: string
  ts: string
  metadata: { event_type: string; event_payload: Record<string, unknown> } | null
  /** All fields as received, such as `unfurl_links`. */
  fields: Record<string, string>
}

/** What happens to the next call of a method. */
export type Mishap =
  | { kind: 'status'; status: number; retryAfter?: number }
  | { kind: 'error'; error: string }
  /** The call is executed, but the connection closes before the answer. */
  | { kind: 'lost_answer' }

export type SlackServer = {
  /** Base address of the Web API. */
  url: string
  /** The bot is a member of channels with `isMember`. */
  channels: Map<string, { name: string; isMember: boolean }>
  /** Posted messages, in order. */
  readonly posted: readonly SlackMessage[]
  /** Called methods, in order. */
  readonly calls: readonly string[]
  mishap(method: string, mishap: Mishap): void
  /** Resolves when this many messages were posted. */
  waitForPosts(count: number): Promise<readonly SlackMessage[]>
  close(): Promise<void>
}

export async function startSlack(): Promise<SlackServer> {
  const channels = new Map<string, { name: string; isMember: boolean }>()
  const posted: SlackMessage[] = []
  const calls: string[] = []
  const mishaps: { method: string; mishap: Mishap }[] = []
  const watchers = new Set<() => void>()

  const methods: Record<string, (fields: Record<string, string>) => object> = {
    'auth.test': () => ({
      ok: true,
      url: 'https://nest.slack.example/',
      team: slackApp.workspace,
      user: slackApp.botUser,
      team_id: slackApp.teamId,
      user_id: slackApp.botUserId,
      bot_id: 'B0001',
    }),
    'conversations.info': ({ channel = '' }) => {
      const found = channels.get(channel)
      if (!found) return { ok: false, error: 'channel_not_found' }
      return { ok: true, channel: { id: channel, name: found.name, is_member: found.isMember } }
    },
    'chat.postMessage': (fields) => {
      const { channel = '', text = '', thread_ts, metadata } = fields
      if (text === '') return { ok: false, error: 'no_text' }
      if (text.length > 40_000) return { ok: false, error: 'msg_too_long' }
      const ts = `${1_700_000_000 + posted.length}.000100`
      posted.push({
        channel,
        text,
        ts,
        thread_ts: thread_ts ?? null,
        metadata: metadata ? JSON.parse(metadata) : null,
        fields,
      })
      for (const look of watchers) look()
      return { ok: true, channel, ts }
    },
    'conversations.replies': ({ channel, ts, include_all_metadata }) => ({
      ok: true,
      messages: posted
        .filter((message) => message.channel === channel && message.thread_ts === ts)
        .map(({ text, ts, metadata }) => ({
          type: 'message',
          text,
          ts,
          ...(metadata && include_all_metadata === 'true' ? { metadata } : {}),
        })),
      has_more: false,
    }),
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = (request.url ?? '').slice('/api/'.length)
    const fields = Object.fromEntries(new URLSearchParams(await readText(request)))
    calls.push(method)
    const send = (body: object) => {
      response.setHeader('content-type', 'application/json; charset=utf-8')
      response.end(JSON.stringify(body))
    }
    const index = mishaps.findIndex((each) => each.method === method)
    const [met] = index < 0 ? [] : mishaps.splice(index, 1)
    if (met?.mishap.kind === 'status') {
      const { status, retryAfter } = met.mishap
      response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) })
      response.end('<html>')
      return
    }
    if (met?.mishap.kind === 'error') return send({ ok: false, error: met.mishap.error })
    if (request.headers.authorization !== `Bearer ${slackApp.token}`) {
      return send({ ok: false, error: 'invalid_auth' })
    }
    const act = methods[method]
    const body = act ? act(fields) : { ok: false, error: 'unknown_method' }
    if (met?.mishap.kind === 'lost_answer') request.socket.destroy()
    else send(body)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The server listens on an address, not on a pipe.
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}/api`,
    channels,
    posted,
    calls,
    mishap: (method, mishap) => void mishaps.push({ method, mishap }),
    async waitForPosts(count) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const tooLong = setTimeout(
        () =>
          reject(new Error(`${posted.length} of ${count} messages were posted: ${JSON.stringify(posted)}`)),
        120_000,
      )
      const look = () => posted.length >= count && resolve()
      watchers.add(look)
      look()
      await promise.finally(() => {
        clearTimeout(tooLong)
        watchers.delete(look)
      })
      return posted
    },
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** Wraps an event like Slack. By default it is a user's message in `C0001`. */
export function slackEvent(event: Record<string, unknown>, overrides: Record<string, unknown> = {}): object {
  const ts = `${1_690_000_000 + Math.floor(Math.random() * 1e6)}.${String(Math.floor(Math.random() * 1e6)).padStart(6, '0')}`
  return {
    token: 'legacy',
    team_id: slackApp.teamId,
    api_app_id: 'A0001',
    type: 'event_callback',
    event_id: `Ev${randomBytes(6).toString('hex').toUpperCase()}`,
    event_time: 1_690_000_000,
    authorizations: [{ team_id: slackApp.teamId, user_id: slackApp.botUserId, is_bot: true }],
    event: {
      type: 'message',
      channel: 'C0001',
      channel_type: 'channel',
      user: 'U0ANN',
      text: 'hello',
      ts,
      event_ts: ts,
      ...event,
    },
    ...overrides,
  }
}

/** Headers of a request with this body, signed at `now`. */
export function slackHeaders(
  body: string,
  now: Date,
  secret = slackApp.signingSecret,
): Record<string, string> {
  const time = String(Math.floor(now.getTime() / 1000))
  const hex = createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex')
  return {
    'content-type': 'application/json',
    'x-slack-request-timestamp': time,
    'x-slack-signature': `v0=${hex}`,
  }
}
