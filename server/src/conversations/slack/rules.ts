import { createHmac } from 'node:crypto'
import { slackTimeTolerance } from '@roost/contracts/conversations/slack'
import type { ErrorCode } from '@roost/contracts/kit/errors'
import { z } from 'zod'
import { Fault } from '../../kit/fault.ts'
import { isSameSecret } from '../../kit/same-secret.ts'

export type Signed = {
  body: Uint8Array
  /** `v0=<hex>`. */
  signature: string | undefined
  /** Unix time in seconds. */
  time: string | undefined
}

/** Throws `invalid_signature`. */
export function checkSignature(
  { body, signature, time }: Signed,
  expectation: { secret: string; now: Date },
): void {
  const signatureHex = /^v0=([0-9a-f]{64})$/i.exec(signature?.trim() ?? '')?.[1]
  const isRecent =
    time !== undefined &&
    /^\d{1,12}$/.test(time) &&
    Math.abs(Number(time) - expectation.now.getTime() / 1000) <= slackTimeTolerance
  if (signatureHex === undefined || !isRecent) throw new Fault('invalid_signature')
  const expected = createHmac('sha256', expectation.secret).update(`v0:${time}:`).update(body).digest()
  if (!isSameSecret(Buffer.from(signatureHex, 'hex'), expected)) throw new Fault('invalid_signature')
}

/** A message to the bot, or in a channel that it reads. */
export type SlackMessage = {
  eventId: string
  teamId: string
  userId: string
  channelId: string
  isDirect: boolean
  /** Slack's id of the message within its channel. */
  messageTs: string
  /** The thread that the message is in or starts. */
  threadTs: string
  text: string
}

const short = z.string().min(1).max(64)
const Callback = z.looseObject({
  type: z.literal('event_callback'),
  event_id: short,
  team_id: short,
  authorizations: z.array(z.looseObject({ user_id: z.string().nullish() })).nullish(),
  event: z.looseObject({
    type: z.enum(['message', 'app_mention']),
    subtype: z.string().nullish(),
    bot_id: z.string().nullish(),
    user: short,
    text: z.string(),
    channel: short,
    channel_type: z.string().nullish(),
    ts: short,
    thread_ts: short.nullish(),
  }),
})

/** Subtypes written by people; the others report edits, joins and the like. */
const humanSubtypes = new Set(['file_share', 'me_message', 'thread_broadcast'])

/** Returns null for anything but a message to the bot. `botUserId` is the bot's own user. */
export function readMessage(payload: unknown, botUserId: string): SlackMessage | null {
  const parsed = Callback.safeParse(payload)
  if (!parsed.success) return null
  const { event, event_id, team_id, authorizations } = parsed.data
  // Slack delivered the event for another workspace, or for a person's own authorization of the app.
  if (authorizations?.length && !authorizations.some(({ user_id }) => user_id === botUserId)) return null
  if (event.bot_id || event.user === botUserId || event.user === 'USLACKBOT') return null
  if (event.subtype && !humanSubtypes.has(event.subtype)) return null
  const text = plainText(event.text, botUserId)
  if (text === '') return null
  return {
    eventId: event_id,
    teamId: team_id,
    userId: event.user,
    channelId: event.channel,
    isDirect: event.channel_type === 'im',
    messageTs: event.ts,
    threadTs: event.thread_ts ?? event.ts,
    text,
  }
}

/** Slack's markup as plain text, without the mention of the bot. */
export function plainText(text: string, botUserId: string): string {
  return text
    .replaceAll(/<([^<>]*)>/g, (_, inner: string) => {
      const [target = '', label] = inner.split('|', 2)
      if (target === `@${botUserId}`) return ''
      if (target.startsWith('@')) return `@${label ?? target.slice(1)}`
      if (target.startsWith('#')) return `#${label ?? target.slice(1)}`
      if (target.startsWith('!')) return label ?? `@${target.slice(1).split('^')[0]}`
      return label === undefined || target.endsWith(label) ? target : `${label} (${target})`
    })
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim()
}

/** The text posted into the thread when a message starts no run. */
export function refusalNotice(code: ErrorCode, agentName: string): string {
  switch (code) {
    case 'agent_not_running':
      return `The agent ${agentName} is not running at the moment. Once its owner has started it, ask again.`
    case 'queue_full':
      return `The agent ${agentName} has too much waiting already. Please ask again later.`
    case 'circuit_open':
      return `The agent ${agentName} cannot reach its model provider at the moment. Please ask again later.`
    case 'rate_limited':
      return 'That was too many messages within a minute. Please wait a moment; what came since was not passed on.'
    default:
      return `The agent ${agentName} could not take this message.`
  }
}

/** Seconds until the next attempt to send a post. */
export function retrySeconds(attempts: number): number {
  return Math.min(5 * 2 ** Math.min(attempts, 10), 300)
}

/** `&`, `<` and `>` are Slack's only special characters in text. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
