/**
 * Keeps the documentation correct. With `checkReplies`, set in tests, an undeclared status, header, media type
 * or error fails the request.
 */
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { failuresOf } from '@roost/contracts/kit/failures'
import { errorHeaders } from '@roost/contracts/kit/headers'
import { Fault } from '../kit/fault.ts'
import { type Problem, problemOf } from './problem.ts'

/** Throws when the endpoint does not declare a request header. */
export function refuseUndeclaredHeader({ id, headers = [] }: Endpoint, name: string): void {
  const isGeneral = generalRequestHeaders.includes(name.toLowerCase())
  if (!isGeneral && !isAmong(headers, name)) undeclared(id, `reads the header ${name}`, 'headers')
}

export type SentResponse = {
  status: number
  headers: Record<string, string>
  /** Undefined: `body` is a value that becomes JSON. */
  contentType: string | undefined
  body: unknown
}

/** Throws for a successful response that the endpoint does not describe. */
export function refuseUndeclaredReply(endpoint: Endpoint, reply: SentResponse): void {
  const { id, also = [], streams = [], replyHeaders = [], returns } = endpoint
  const { status, headers, contentType, body } = reply
  const other = also.find((each) => each.status === status)
  if (status !== (endpoint.status ?? 200) && !other) undeclared(id, `answers ${status}`, 'also')
  const implied = endpoint.headers?.includes('Idempotency-Key') ? ['X-Idempotent-Replay'] : []
  const named = [...generalReplyHeaders, ...implied, ...replyHeaders]
  for (const name of Object.keys(headers))
    if (!isAmong(named, name)) undeclared(id, `answers with the header ${name}`, 'replyHeaders')
  if (body === undefined) return
  const shape = other?.returns ?? returns
  const [mediaType = ''] = (contentType ?? 'application/json').split(';', 1)
  const isNamed = mediaType === 'application/json' ? shape !== undefined : streams.includes(mediaType)
  if (!isNamed) undeclared(id, `answers ${mediaType}`, 'returns` or `streams')
  if (contentType === undefined) shape?.parse(body)
}

/** Returns the problem, or a 500 when the endpoint does not declare its code or headers. */
export function declaredProblem(endpoint: Endpoint, problem: Problem): Problem {
  const { status, headers, body } = problem
  const { error, request_id } = body
  const { id, replyHeaders } = endpoint
  try {
    if (!failuresOf(endpoint).includes(error)) undeclared(id, `answers ${status} ${error}`, 'fails')
    const named = errorHeaders(status, [error], replyHeaders)
    for (const name of Object.keys(headers))
      if (!isAmong(named, name)) undeclared(id, `answers ${error} with the header ${name}`, 'headersOfCode')
    return problem
  } catch (fault) {
    return problemOf(fault, request_id)
  }
}

/** Headers that any route may read or send; OpenAPI describes them elsewhere. */
const generalRequestHeaders = ['authorization', 'accept', 'content-type', 'x-request-id']
const generalReplyHeaders = [
  'cache-control',
  'content-length',
  'content-security-policy',
  'content-type',
  'x-accel-buffering',
  'x-content-type-options',
]

function isAmong(names: readonly string[], name: string): boolean {
  return names.some((each) => each.toLowerCase() === name.toLowerCase())
}

function undeclared(id: string, does: string, field: string): never {
  const message = `${id} ${does}, which its endpoint does not name in \`${field}\`.`
  throw new Fault('internal_error', message)
}
