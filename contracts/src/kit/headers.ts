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
      'Requests with the same key within 24 hours count as one: later ones get the first reply, with `X-Idempotent-Replay: true`. 409 `request_in_progress` while the first one runs.',
    schema: { type: 'string', minLength: 1 },
  },
  Prefer: {
    description:
      '`wait=<seconds>` limits how long the call waits for the result. `return=minimal` omits the transcript from the reply (RFC 7240).',
    schema: text,
  },
  'Last-Event-ID': {
    description: 'The id of the last event received: the stream continues after it. Overrides `after`.',
    schema: text,
  },
  Range: {
    description: '`bytes=<first>-<last>`: one byte range. Any other form returns the whole file.',
    schema: text,
  },
  'X-Via-MCP': {
    description: '`1` on calls that the MCP server forwards: their executions have `triggered_by` `mcp`.',
    schema: text,
  },
  'X-Session-Token': {
    description: 'The `session_token` of a visitor, as an alternative to the field.',
    schema: text,
  },
  Cookie: {
    description:
      'A browser that signed in before sends its `roost_device_…` cookie. Its attempts count apart from those of strangers. Optional; it is no credential.',
    schema: text,
  },
  'X-Archive-Passphrase': {
    description:
      'The passphrase of an exported archive: base64 of its UTF-8 text, which has 12 to 1,000 characters. The archive is then one age file.',
    schema: text,
  },
  'X-Svc-Signature': {
    description:
      '`sha256=<hex>`: HMAC-SHA256 of the raw body with the signing secret. Required if the webhook has a secret.',
    schema: text,
  },
  'X-Svc-Timestamp': {
    description: 'Seconds since 1970, part of the signed text. Required if the webhook demands it.',
    schema: text,
  },
  'X-Slack-Signature': { description: "Slack's signature of the request.", schema: text },
  'X-Slack-Request-Timestamp': { description: 'Seconds since 1970, part of the signed text.', schema: text },
  'X-Twilio-Signature': { description: "The telephone provider's signature of the request.", schema: text },
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
  'X-Execution-Id': {
    description: 'The execution that was started, or the one that blocks this call.',
    schema: text,
  },
  'X-Total-Count': {
    description: 'Number of items, regardless of `limit` and `offset`.',
    schema: integer,
  },
  'Preference-Applied': { description: 'The preferences of `Prefer` that were applied.', schema: text },
  Deprecation: { description: 'Since when this route or field is deprecated (RFC 9745).', schema: text },
  Sunset: { description: 'When this route or field is removed (RFC 8594).', schema: text },
  'Content-Disposition': {
    description: 'The file name, and whether to display or save the file.',
    schema: text,
  },
  'Content-Range': { description: 'The byte range of this part of the file.', schema: text },
  'Accept-Ranges': { description: '`bytes`: `Range` is supported.', schema: text },
  'Last-Modified': { description: 'When the file was last changed.', schema: text },
  'Retry-After': {
    description: 'Seconds to wait before a retry, if known.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Set-Cookie': {
    description: 'Marks the browser as known for the limits of sign-in attempts: `roost_device_…`, HttpOnly.',
    schema: text,
  },
  'WWW-Authenticate': { description: '`Bearer`.', schema: text },
  'X-Circuit-Open': { description: 'Set when the circuit breaker refused the run.', schema: flag },
  'X-Conflict-Type': { description: 'The kind of conflict that git reported.', schema: text },
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
