import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams } from '../kit/primitives.ts'

const tag = 'Slack'

/** `workspace_name` and `bot_user` are Slack's names; null while not configured. */
export const SlackConnection = z
  .object({
    configured: z.boolean(),
    workspace_name: z.string().nullable(),
    bot_user: z.string().nullable(),
  })
  .meta({ id: 'SlackConnection' })
export type SlackConnection = z.output<typeof SlackConnection>

const word = z
  .string()
  .trim()
  .max(4096)
  .regex(/^[\x21-\x7e]+$/, 'must be one word of printable characters')

export const SlackBody = z.object({
  signing_secret: word.min(8, 'must have at least 8 characters'),
  bot_token: word.startsWith('xoxb-', 'must be a bot token, which starts with xoxb-'),
})

const settings = {
  tag,
  path: '/api/settings/slack',
  access: { who: 'admin', gate: 'person' },
  returns: SlackConnection,
} as const

export const getSlack = endpoint({
  ...settings,
  id: 'getSlack',
  method: 'GET',
  summary: 'Get the connected Slack workspace, without its secrets',
})

export const putSlack = endpoint({
  ...settings,
  id: 'putSlack',
  method: 'PUT',
  summary: 'Connect a Slack app; the token is checked with Slack',
  description:
    "Both values are in the app's settings: the signing secret under Basic Information, the bot token (`xoxb-…`) under OAuth & Permissions. The app's request URL is `<base url>/api/public/slack/events`.",
  body: SlackBody,
  fails: ['upstream_error'],
  audit: { type: 'credentials', action: 'put_slack' },
})

export const deleteSlack = endpoint({
  ...settings,
  id: 'deleteSlack',
  method: 'DELETE',
  summary: 'Disconnect the Slack app; the channels of agents stay stored',
  audit: { type: 'credentials', action: 'delete_slack' },
})

/** `channel_name` is null if the app may not read it. */
export const SlackChannel = z
  .object({
    bound: z.boolean(),
    channel_id: z.string().nullable(),
    channel_name: z.string().nullable(),
    is_dm_default: z.boolean(),
  })
  .meta({ id: 'SlackChannel' })
export type SlackChannel = z.output<typeof SlackChannel>

export const SlackChannelBody = z.object({
  channel_id: z.string().regex(/^[CG][A-Z0-9]{2,30}$/, 'must be a channel id, such as C0123456789'),
  is_dm_default: z.boolean().nullish(),
})

const channel = {
  tag,
  path: '/api/agents/{name}/slack/channel',
  params: AgentParams,
  returns: SlackChannel,
} as const
const writes = { who: 'owner', gate: 'person' } as const

export const getSlackChannel = endpoint({
  ...channel,
  id: 'getSlackChannel',
  method: 'GET',
  summary: 'Get the Slack channel of an agent',
  access: { who: 'owner' },
  fails: ['agent_not_found'],
})

export const putSlackChannel = endpoint({
  ...channel,
  id: 'putSlackChannel',
  method: 'PUT',
  summary: 'Bind an agent to a Slack channel, optionally also to direct messages',
  description:
    'Everyone in the channel can chat with the agent. A channel has one agent, and one agent of the platform replies to direct messages.',
  access: writes,
  body: SlackChannelBody,
  fails: [
    'agent_not_found',
    'system_agent_protected',
    'feature_disabled',
    'already_exists',
    'upstream_error',
  ],
  audit: { type: 'sharing', action: 'bind_slack_channel' },
})

export const deleteSlackChannel = endpoint({
  ...channel,
  id: 'deleteSlackChannel',
  method: 'DELETE',
  summary: 'Unbind an agent from Slack; conversations stay',
  access: writes,
  fails: ['agent_not_found'],
  audit: { type: 'sharing', action: 'unbind_slack_channel' },
})

export const slackSignatureHeader = 'X-Slack-Signature'
export const slackTimestampHeader = 'X-Slack-Request-Timestamp'
/** Maximum difference in seconds between the time of a signed request and the platform's clock. */
export const slackTimeTolerance = 300

/** A request of Slack: `url_verification`, or `event_callback` with an event. */
export const SlackRequest = z.looseObject({ type: z.string(), challenge: z.string().optional() })

export const receiveSlackEvent = endpoint({
  id: 'receiveSlackEvent',
  method: 'POST',
  path: '/api/public/slack/events',
  summary: 'Receive an event from Slack',
  description: `The signature is the credential: \`${slackSignatureHeader}\` of \`v0:{timestamp}:{raw body}\` with the signing secret, at most ${slackTimeTolerance} s old. Repeated deliveries of an event are ignored.`,
  tag,
  access: { who: 'none' },
  body: z.custom<Uint8Array>(),
  bodyKind: 'raw',
  rawJson: SlackRequest,
  returns: z.union([z.object({ challenge: z.string() }), z.object({ ok: z.literal(true) })]),
  headers: ['X-Slack-Signature', 'X-Slack-Request-Timestamp'],
  fails: ['feature_disabled', 'invalid_signature', 'invalid_json'],
  audit: { type: 'webhook', action: 'slack_event' },
})
