import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { defaultBodyLimit, Id, Timestamp } from '../kit/primitives.ts'
import { ScheduleParams } from './schedules.ts'

const tag = 'Schedule webhooks'

export const signatureHeader = 'X-Svc-Signature'
export const timestampHeader = 'X-Svc-Timestamp'
/** Maximum difference in seconds between the time of a signed call and the platform's clock. */
export const signedTimeTolerance = 300

export const maxContextLength = 4000
export const maxMetadataBytes = 8 * 1024
export const maxWebhookBody = 16 * 1024
/** Larger than `maxWebhookBody`, so that rate limits and the token are checked before the size. */
const readBodyLimit = defaultBodyLimit

export const Webhook = z
  .object({
    schedule_id: Id,
    has_token: z.boolean(),
    webhook_enabled: z.boolean().describe('Same as `has_token`.'),
    webhook_url: z.string().nullable().describe('Anyone who knows this address can fire the schedule.'),
    auth_enabled: z.boolean().describe('Calls require a signature.'),
    has_secret: z.boolean().describe('Same as `auth_enabled`.'),
    signing_secret: z.string().optional().describe('Only in this reply.'),
    signature_header: z.literal(signatureHeader),
    requires_timestamp: z
      .boolean()
      .describe('The signature covers time and body, so a recorded call is refused after a few minutes.'),
    timestamp_header: z.literal(timestampHeader),
    created_at: Timestamp.nullable(),
    last_called_at: Timestamp.nullable().describe('Time of the last fire.'),
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
  summary: 'Create the webhook of a schedule, or replace its token',
  description: 'The previous address returns 404 immediately, and its signing secret is deleted.',
  access: owner,
  returns: Webhook,
  audit: { type: 'webhook', action: 'create_token' },
})

export const getWebhook = endpoint({
  ...managed,
  id: 'getWebhook',
  method: 'GET',
  path,
  summary: 'Get the webhook of a schedule',
  access: { who: 'owner' },
  returns: Webhook,
})

export const deleteWebhook = endpoint({
  ...managed,
  id: 'deleteWebhook',
  method: 'DELETE',
  path,
  summary: 'Revoke the webhook of a schedule',
  description: 'Its address returns 404 immediately.',
  access: owner,
  status: 204,
  audit: { type: 'webhook', action: 'revoke_token' },
})

export const createWebhookSecret = endpoint({
  ...managed,
  id: 'createWebhookSecret',
  method: 'POST',
  path: `${path}/secret`,
  summary: 'Require a signature, or replace its secret',
  description: `Calls then require \`${signatureHeader}: sha256=<hex>\`, the HMAC-SHA256 of the raw body with the secret, which only this reply shows. With \`require_timestamp\` they also require \`${timestampHeader}\`: seconds since 1970, at most ${signedTimeTolerance} s off. The signature then covers that text, a dot and the raw body.`,
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
  summary: 'Stop requiring a signature',
  access: owner,
  returns: Webhook,
  audit: { type: 'webhook', action: 'delete_secret' },
})

/** The optional body of a call. */
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
  summary: 'Fire a schedule by webhook',
  description:
    'The token is the credential. The body may be empty, or a JSON object of at most 16 KiB: `context` (at most 4,000 characters) follows the message as data, `metadata` (an object of at most 8 KiB) is stored with the execution. A repeated `Idempotency-Key` within a day, or without a key a repeated body, gets the first reply. An empty body fires each time.',
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
