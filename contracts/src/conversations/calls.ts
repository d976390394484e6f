import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Id } from '../kit/primitives.ts'

const tag = 'Calls'

/** The platform ends a call after this time. */
export const maxCallSeconds = 1800
/** A call that is not answered within this time is abandoned. */
export const ringSeconds = 60
export const maxCallContextLength = 4_000
/** A label is unique for this time. A failed call releases it. */
export const callLabelHours = 24

export const PhoneNumber = z
  .string()
  .regex(/^\+[1-9]\d{6,14}$/, 'must be a telephone number in the form +15550123456 (E.164)')
const AccountSid = z.string().regex(/^AC[0-9a-fA-F]{32}$/, 'must be "AC" and 32 hexadecimal digits')
const DailyCallCap = z.number().int().min(1).max(500)
const DisplayName = z.string().trim().min(1).max(100)

export const CallBindingBody = z.object({
  account_sid: AccountSid,
  auth_token: z
    .string()
    .regex(/^[\x21-\x7e]{16,128}$/, 'must be 16 to 128 printable characters without spaces')
    .describe('Never returned.'),
  from_number: PhoneNumber.describe('A telephone number of the account.'),
  daily_call_cap: DailyCallCap.nullish().transform((value) => value ?? 20),
  display_name: DisplayName.nullish()
    .transform((value) => value ?? null)
    .describe('The name that the voice introduces itself with. Default: the name of the agent.'),
})
export type CallBindingBody = z.output<typeof CallBindingBody>

export const CallBinding = z
  .object({
    agent_name: z.string(),
    configured: z.boolean(),
    account_sid: z.string().nullable(),
    from_number: z.string().nullable(),
    daily_call_cap: z.number().int().nullable(),
    display_name: z.string().nullable(),
    enabled: z.boolean(),
    calls_today: z
      .number()
      .int()
      .describe('Calls since midnight UTC, without those that the provider rejected.'),
  })
  .meta({ id: 'CallBinding' })
export type CallBinding = z.output<typeof CallBinding>

export const StartCall = z.object({
  to_number: PhoneNumber,
  context: z
    .string()
    .max(maxCallContextLength)
    .nullish()
    .transform((value) => value?.trim() || null)
    .describe('The subject of the call: part of the instructions of the voice.'),
  process_transcript: z
    .boolean()
    .nullish()
    .transform((value) => value ?? true)
    .describe('After the call, the agent gets the transcript as a task.'),
  dedup_label: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .nullish()
    .transform((value) => value ?? null)
    .describe('At most one call with this label within a day.'),
})
export type StartCall = z.output<typeof StartCall>

export const StartedCall = z
  .object({
    status: z.literal('ringing'),
    call_id: Id,
    execution_id: Id.describe('Runs during the call; its response is the transcript.'),
    to_number: z.string(),
  })
  .meta({ id: 'StartedCall' })
export type StartedCall = z.output<typeof StartedCall>

const path = '/api/agents/{name}/voip'
const ofAgent = { tag, params: AgentParams } as const
const fails = ['agent_not_found', 'feature_disabled'] as const
const owner = { who: 'owner', gate: 'person' } as const

export const getCallBinding = endpoint({
  ...ofAgent,
  id: 'getCallBinding',
  method: 'GET',
  path,
  summary: 'The telephone account of an agent',
  access: { who: 'access' },
  returns: CallBinding,
  fails,
})

export const putCallBinding = endpoint({
  ...ofAgent,
  id: 'putCallBinding',
  method: 'PUT',
  path,
  summary: 'Set the telephone account of an agent',
  description:
    'The provider checks account, token and number: 422 if it rejects them, 502 if it cannot be reached. Also enables calls.',
  access: owner,
  body: CallBindingBody,
  returns: CallBinding,
  fails: [...fails, 'upstream_error'],
  audit: { type: 'credentials', action: 'voip_configure' },
})

export const deleteCallBinding = endpoint({
  ...ofAgent,
  id: 'deleteCallBinding',
  method: 'DELETE',
  path,
  summary: 'Delete the telephone account of an agent',
  description: 'Ends calls in progress.',
  access: owner,
  returns: z.object({ deleted: z.boolean(), agent_name: z.string() }),
  fails,
  audit: { type: 'credentials', action: 'voip_remove' },
})

export const putCallsEnabled = endpoint({
  ...ofAgent,
  id: 'putCallsEnabled',
  method: 'PUT',
  path: `${path}/enabled`,
  summary: 'Enable or disable the calls of an agent',
  description: 'Keeps the account and calls in progress.',
  access: owner,
  body: z.object({ enabled: z.boolean() }),
  returns: CallBinding,
  fails: [...fails, 'not_found'],
  audit: { type: 'configuration', action: 'voip_enabled' },
})

export const startCall = endpoint({
  ...ofAgent,
  id: 'startCall',
  method: 'POST',
  path: `${path}/call`,
  summary: 'Start a telephone call',
  description:
    'The voice speaks with the person who answers and may consult the agent. The execution lasts as long as the call. A repeated `Idempotency-Key` within a day gets the first reply. 409 `already_exists` if a call of the last 24 hours has the same `dedup_label` and did not fail. `daily_cap_reached` counts from midnight UTC.',
  access: { who: 'access' },
  body: StartCall,
  returns: StartedCall,
  headers: ['Idempotency-Key'],
  replyHeaders: ['X-Execution-Id'],
  fails: [
    ...fails,
    'not_found',
    'conflict',
    'already_exists',
    'request_in_progress',
    'rate_limited',
    'daily_cap_reached',
    'agent_not_running',
    'upstream_error',
  ],
  audit: { type: 'execution', action: 'voip_call' },
})

export const callStatus = endpoint({
  id: 'callStatus',
  method: 'POST',
  path: '/api/public/voip/status/{call_id}',
  summary: 'Status callback of the telephone provider',
  description:
    'Form-encoded, and signed by the provider with the token of the account (`X-Twilio-Signature`).',
  tag,
  access: { who: 'none' },
  params: z.object({ call_id: z.string() }),
  body: z.custom<Uint8Array>(),
  bodyKind: 'raw',
  bodyLimit: 64 * 1024,
  status: 204,
  headers: ['X-Twilio-Signature'],
  accepts: ['application/x-www-form-urlencoded'],
  fails: ['feature_disabled', 'not_found', 'invalid_signature', 'body_too_large'],
  audit: { type: 'webhook', action: 'voip_status' },
})
