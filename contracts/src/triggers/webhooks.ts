import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { defaultBodyLimit, Id, Timestamp } from '../kit/primitives.ts'
import { ScheduleParams } from './schedules.ts'

const tag = 'Schedule webhooks'

export const signatureHeader = 'X-Svc-Signature'
export const timestampHeader = 'X-Svc-Timestamp'
/** So far may the time of a signed call be from the platform's. */
export const signedTimeTolerance = 300

export const maxContextLength = 4000
export const maxMetadataBytes = 8 * 1024
export const maxWebhookBody = 16 * 1024
/** What is read at all, as anywhere: a body over the limit is told of in its turn, after the rates and the token. */
const readBodyLimit = defaultBodyLimit

export const Webhook = z
  .object({
    schedule_id: Id,
    has_token: z.boolean(),
    webhook_enabled: z.boolean().describe('The same.'),
    webhook_url: z.string().nullable().describe('Whoever knows it can fire the schedule.'),
    auth_enabled: z.boolean().describe('Calls need a signature.'),
    has_secret: z.boolean().describe('The same.'),
    signing_secret: z.string().optional().describe('This once.'),
    signature_header: z.literal(signatureHeader),
    requires_timestamp: z
      .boolean()
      .describe('The signature is of time and body together, so that a call cannot be played again.'),
    timestamp_header: z.literal(timestampHeader),
    created_at: Timestamp.nullable(),
    last_called_at: Timestamp.nullable().describe('When it last fired.'),
  })
  .meta({ id: 'Webhook' })
export type Webhook = z.output<typeof Webhook>

const path = '/api/agents/{name}/schedules/{id}/webhook'
const managed = {
  tag,
  params: ScheduleParams,
  fails: ['agent_not_found', 'schedule_not_found'],
} as const
const owner = { who: 'owner', refuses: ['agent'] } as const

export const createWebhook = endpoint({
  ...managed,
  id: 'createWebhook',
  method: 'POST',
  path,
  summary: 'Make the webhook of a schedule, or give it another token',
  description: 'The old address answers 404 at once, and the signing secret is gone with it.',
  access: owner,
  returns: Webhook,
  audit: { type: 'webhook', action: 'create_token' },
})

export const getWebhook = endpoint({
  ...managed,
  id: 'getWebhook',
  method: 'GET',
  path,
  summary: 'The webhook of a schedule',
  access: { who: 'owner' },
  returns: Webhook,
})

export const deleteWebhook = endpoint({
  ...managed,
  id: 'deleteWebhook',
  method: 'DELETE',
  path,
  summary: 'Revoke the webhook of a schedule',
  description: 'Its address answers 404 at once.',
  access: owner,
  status: 204,
  audit: { type: 'webhook', action: 'revoke_token' },
})

export const createWebhookSecret = endpoint({
  ...managed,
  id: 'createWebhookSecret',
  method: 'POST',
  path: `${path}/secret`,
  summary: 'Let calls need a signature, or give another secret for it',
  description: `A call then needs \`${signatureHeader}: sha256=<hex>\`: the HMAC-SHA256 of its raw body under the secret, which is shown this once. With \`require_timestamp\` it also needs \`${timestampHeader}\`, seconds since 1970 and at most ${signedTimeTolerance} s off, and the signature is of that text, a dot and the raw body.`,
  access: owner,
  body: z.object({ require_timestamp: z.boolean().nullish() }),
  bodyOptional: true,
  returns: Webhook,
  fails: [...managed.fails, 'secret_without_token'],
  audit: { type: 'webhook', action: 'create_secret' },
})

export const deleteWebhookSecret = endpoint({
  ...managed,
  id: 'deleteWebhookSecret',
  method: 'DELETE',
  path: `${path}/secret`,
  summary: 'Let calls need no signature any more',
  access: owner,
  returns: Webhook,
  audit: { type: 'webhook', action: 'delete_secret' },
})

/** The body of a call that has one. */
export const WebhookCall = z.object({
  context: z.string().max(maxContextLength).optional(),
  metadata: z
    .record(z.string(), z.unknown())
    .refine(
      (value) => new TextEncoder().encode(JSON.stringify(value)).length <= maxMetadataBytes,
      'must be at most 8 KiB as JSON',
    )
    .optional(),
})
export type WebhookCall = z.output<typeof WebhookCall>

export const callWebhook = endpoint({
  id: 'callWebhook',
  method: 'POST',
  path: '/api/webhooks/{token}',
  summary: 'Fire a schedule from outside',
  description:
    'The token is the credential. The body may be empty, or a JSON object of at most 16 KiB: `context` (at most 4,000 characters) follows the message as data, `metadata` (an object of at most 8 KiB) is kept with the execution. The same `Idempotency-Key` within a day, or the same body where there is no key, is answered as the first was; an empty body fires each time.',
  tag,
  access: { who: 'none' },
  params: z.object({ token: z.string() }),
  body: z.custom<Uint8Array>(),
  bodyKind: 'raw',
  rawJson: WebhookCall,
  bodyOptional: true,
  bodyLimit: readBodyLimit,
  status: 202,
  returns: z.object({
    status: z.literal('triggered'),
    schedule_id: Id,
    agent_name: z.string(),
    execution_id: Id,
    message: z.string(),
  }),
  headers: ['Idempotency-Key', 'X-Svc-Signature', 'X-Svc-Timestamp'],
  fails: [
    'webhook_not_found',
    'rate_limited',
    'body_too_large',
    'invalid_signature',
    'invalid_json',
    'request_in_progress',
    'agent_not_running',
    'queue_full',
    'circuit_open',
    'scheduler_unavailable',
    'scheduler_timeout',
  ],
  audit: { type: 'webhook', action: 'call' },
})
