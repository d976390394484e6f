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
  /** Seconds since 1970. */
  time: string | undefined
}

/** Throws `invalid_signature`. */
export function checkSignature({ body, signature, time }: Signed, of: { secret: string; now: Date }): void {
  const given = /^v0=([0-9a-f]{64})$/i.exec(signature?.trim() ?? '')?.[1]
  const isNear =
    time !== undefined &&
    /^\d{1,12}$/.test(time) &&
    Math.abs(Number(time) - of.now.getTime() / 1000) <= slackTimeTolerance
  if (given === undefined || !isNear) throw new Fault('invalid_signature')
  const wanted = createHmac('sha256', of.secret).update(`v0:${time}:`).update(body).digest()
  if (!isSameSecret(Buffer.from(given, 'hex'), wanted)) throw new Fault('invalid_signature')
}

/** What somebody said to the bot, or where it listens. */
export type Said = {
  eventId: string
  teamId: string
  userId: string
  channelId: string
  isDirect: boolean
  /** Slack's name of the message within its channel. */
  messageTs: string
  /** Of the thread that it is in, or opens. */
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

/** Of the many kinds of messages those that a person has written; the others tell of edits, joins and the like. */
const written = new Set(['file_share', 'me_message', 'thread_broadcast'])

/** Null: nobody said anything that is for the bot. `botUserId` is who we are. */
export function readSaid(payload: unknown, botUserId: string): Said | null {
  const read = Callback.safeParse(payload)
  if (!read.success) return null
  const { event, event_id, team_id, authorizations } = read.data
  // Another workspace that has installed the same app, or a person's own authorization of it.
  if (authorizations?.length && !authorizations.some(({ user_id }) => user_id === botUserId)) return null
  if (event.bot_id || event.user === botUserId || event.user === 'USLACKBOT') return null
  if (event.subtype && !written.has(event.subtype)) return null
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

/** Slack's markup as a person would have typed it, without the mention that called the bot. */
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

/** What the thread is told when a message becomes no run. */
export function refusalWords(code: ErrorCode, agentName: string): string {
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

/** Seconds until a post is tried again, after so many attempts. */
export function retrySeconds(attempts: number): number {
  return Math.min(5 * 2 ** Math.min(attempts, 10), 300)
}
