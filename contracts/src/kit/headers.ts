import type { ErrorCode } from './errors.ts'

/** A header as the documentation shows it. */
export type HeaderInfo = { description: string; schema: Readonly<Record<string, unknown>> }

const text = { type: 'string' } as const
const integer = { type: 'integer', minimum: 0 } as const
const flag = { type: 'string', enum: ['true'] } as const

/** Request headers: one for every call, the others for endpoints that name them in `headers`. */
export const requestHeaders = {
  'X-Request-ID': {
    description:
      'An id of your own for this request. The reply, the log and the audit entry carry it. Any other value is replaced.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  'Idempotency-Key': {
    description:
      'Requests with the same key within 24 hours are one request: later ones get the first reply, with `X-Idempotent-Replay: true`. 409 `request_in_progress` while the first one runs.',
    schema: { type: 'string', minLength: 1 },
  },
  Prefer: {
    description:
      '`wait=<seconds>` bounds how long the reply is waited for. `return=minimal` leaves the transcript out where the reply has one (RFC 7240).',
    schema: text,
  },
  'Last-Event-ID': {
    description: 'The id of the last event received: the stream goes on after it. Wins over `after`.',
    schema: text,
  },
  Range: {
    description: '`bytes=<first>-<last>`: one range of bytes. Any other form gets the whole file.',
    schema: text,
  },
  'X-Via-MCP': {
    description: '`1` on calls that the MCP server forwards: their executions have `triggered_by` `mcp`.',
    schema: text,
  },
  'X-Session-Token': {
    description: 'The `session_token` of a visitor, instead of the field of that name.',
    schema: text,
  },
  'X-Svc-Signature': {
    description:
      '`sha256=<hex>`: HMAC-SHA256 of the raw body under the signing secret. Needed where the webhook has one.',
    schema: text,
  },
  'X-Svc-Timestamp': {
    description: 'Seconds since 1970, part of what is signed. Needed where the webhook requires it.',
    schema: text,
  },
  'X-Slack-Signature': { description: 'The signature that Slack makes.', schema: text },
  'X-Slack-Request-Timestamp': { description: 'Seconds since 1970, part of what is signed.', schema: text },
  'X-Twilio-Signature': { description: 'The signature that the telephone provider makes.', schema: text },
  'Payment-Signature': { description: 'The payment proof of x402, version 2.', schema: text },
  'X-Payment': { description: 'The payment proof of x402, version 1.', schema: text },
} as const satisfies Record<string, HeaderInfo>
export type RequestHeader = keyof typeof requestHeaders

/** Reply headers, without those about the connection, the cache and the length of the body. */
export const replyHeaders = {
  'X-Request-ID': {
    description: 'The id of the request, also in the log, the audit entry and every error body.',
    schema: text,
  },
  'X-Idempotent-Replay': {
    description: 'Set when this is the stored reply of an earlier request with the same key.',
    schema: flag,
  },
  'X-Execution-Id': { description: 'The execution that was started, or is in the way.', schema: text },
  'X-Total-Count': {
    description: 'How many items there are, apart from `limit` and `offset`.',
    schema: integer,
  },
  'Preference-Applied': { description: 'What of `Prefer` was applied.', schema: text },
  Deprecation: { description: 'Since when what was used is deprecated (RFC 9745).', schema: text },
  Sunset: { description: 'When what was used ends (RFC 8594).', schema: text },
  'Content-Disposition': { description: 'The file name, and whether to show or save it.', schema: text },
  'Content-Range': { description: 'The part of the file that this is.', schema: text },
  'Accept-Ranges': { description: '`bytes`: a `Range` is honoured.', schema: text },
  'Last-Modified': { description: 'When the file was last changed.', schema: text },
  'Retry-After': {
    description: 'Seconds until it is worth another try, where that is known.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': { description: '`Bearer`.', schema: text },
  'X-Circuit-Open': { description: 'Set when the circuit breaker refused the run.', schema: flag },
  'X-Conflict-Type': { description: 'What git reported.', schema: text },
  'X-Conflict-Class': { description: '`local_changes` or `diverged_history`.', schema: text },
  'Payment-Required': { description: 'The terms of payment, version 2 of x402.', schema: text },
  'Payment-Response': { description: 'The settlement, version 2 of x402.', schema: text },
  'X-Payment-Response': { description: 'The settlement, version 1 of x402.', schema: text },
} as const satisfies Record<string, HeaderInfo>
export type ReplyHeader = keyof typeof replyHeaders

/** Returns the headers of an error: those of its status and codes, and the run if successes name one. */
export function errorHeaders(
  status: number,
  codes: readonly ErrorCode[],
  ofSuccess: readonly ReplyHeader[] = [],
): ReplyHeader[] {
  return [
    'X-Request-ID',
    ...(ofSuccess.includes('X-Execution-Id') ? run : []),
    ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
    ...(waitStatuses.includes(status) ? (['Retry-After'] as const) : []),
    ...codes.flatMap((code) => headersOfCode[code] ?? []),
  ].filter((name, index, all) => all.indexOf(name) === index) as ReplyHeader[]
}

/** Errors with these statuses can have `retry_after_seconds`. */
const waitStatuses = [429, 503, 507]

const run: ReplyHeader[] = ['X-Execution-Id']
const terms: ReplyHeader[] = ['Payment-Required', 'Payment-Response', 'X-Payment-Response']
const headersOfCode: Partial<Record<ErrorCode, readonly ReplyHeader[]>> = {
  git_conflict: ['X-Conflict-Type', 'X-Conflict-Class'],
  circuit_open: ['X-Circuit-Open'],
  request_in_progress: run,
  turn_in_progress: run,
  run_failed: run,
  run_timeout: run,
  provider_rate_limited: run,
  sync_wait_exceeded: run,
  range_not_satisfiable: ['Content-Range'],
  payment_required: terms,
  payment_failed: terms,
}
