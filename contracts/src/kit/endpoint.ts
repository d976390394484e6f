import type { z } from 'zod'
import type { Access } from './access.ts'
import type { ErrorCode } from './errors.ts'
import type { ReplyHeader, RequestHeader } from './headers.ts'

/**
 * An endpoint is a value: server routes, validation, documentation, the typed client and the access table all read
 * the same object.
 */
export type Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Returns extends z.ZodType = z.ZodType,
> = {
  /** Unique, camelCase verb phrase; the operation id in the documentation. */
  id: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `{name}` for parameters. */
  path: string
  summary: string
  description?: string
  /** Heading in the documentation. */
  tag: string
  access: Access
  params?: Params
  query?: Query
  body?: Body
  /**
   * Default `json`; `form` is `application/x-www-form-urlencoded`; `raw` passes the bytes to the handler, `stream` as
   * they arrive and without a limit.
   */
  bodyKind?: 'json' | 'form' | 'raw' | 'stream'
  /** Schema of a `raw` body that is JSON, for the documentation only; the handler parses it. */
  rawJson?: z.ZodType
  /** Media types of a `raw` or `stream` body that is not JSON; default `application/octet-stream`. */
  accepts?: readonly string[]
  /** Headers that the handler reads, in addition to those that apply to every call. */
  headers?: readonly RequestHeader[]
  /** An empty body is read as `{}`. */
  bodyOptional?: boolean
  /**
   * Rejects unknown names in query and body with 422, so that a misspelt filter never widens the call. Set where a call
   * deletes something or acts on many items; every DELETE is strict by default. See `inQuery` for fields in the query.
   */
  strict?: true
  /** Maximum bytes; a larger body is 413 `body_too_large`. */
  bodyLimit?: number
  /** Maximum values of a JSON body, because parsing blocks all other requests; more are 422 `validation_error`. */
  maxValues?: number
  /** Status of success; default 200. */
  status?: 200 | 201 | 202 | 204
  /** The reply's shape; absent for 204 and for replies that are not JSON (see `streams`). */
  returns?: Returns
  /** Media types of a reply that is not one JSON document. With `returns`, both forms exist. */
  streams?: readonly string[]
  /** Headers of a successful reply, in addition to those of every reply. */
  replyHeaders?: readonly ReplyHeader[]
  /** Further successful statuses. Without `returns` the reply has the form of `status`. */
  also?: readonly FurtherReply[]
  /** Errors in addition to those that follow from this value; see `failuresOf`. */
  fails?: readonly ErrorCode[]
  /** Name of the call in the audit log. Required for writes; reads have one only if they are sensitive. */
  audit?: { type: AuditType; action: string }
}

export type FurtherReply = { status: 200 | 201 | 202 | 206; when: string; returns?: z.ZodType }

export const auditTypes = [
  'agent_lifecycle',
  'execution',
  'authentication',
  'authorization',
  'configuration',
  'credentials',
  'sharing',
  'mcp_operation',
  'git_operation',
  'operator_queue',
  'webhook',
  'system',
] as const
export type AuditType = (typeof auditTypes)[number]

/** Returns its argument with the exact schema types. */
export function endpoint<
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Returns extends z.ZodType = z.ZodUndefined,
  const Also extends readonly FurtherReply[] = readonly [],
>(
  value: Endpoint<Params, Query, Body, Returns> & { also?: Also },
): Endpoint<Params, Query, Body, Returns> & { also?: Also } {
  return value
}

/** True for a body that the handler reads itself. */
export function isUnparsed({ bodyKind }: Pick<Endpoint, 'bodyKind'>): boolean {
  return bodyKind === 'raw' || bodyKind === 'stream'
}

export function isStrict({ method, strict }: Pick<Endpoint, 'method' | 'strict'>): boolean {
  return strict ?? method === 'DELETE'
}

export type ParamsOf<E> = E extends Endpoint<infer P, z.ZodType, z.ZodType, z.ZodType> ? z.output<P> : never
export type QueryOf<E> = E extends Endpoint<z.ZodType, infer Q, z.ZodType, z.ZodType> ? z.output<Q> : never
export type BodyOf<E> = E extends Endpoint<z.ZodType, z.ZodType, infer B, z.ZodType> ? z.output<B> : never
export type ReplyOf<E> =
  | (E extends Endpoint<z.ZodType, z.ZodType, z.ZodType, infer R> ? z.output<R> : never)
  | FurtherReplyOf<E>
/** The shapes of `also`. */
export type FurtherReplyOf<E> = E extends { also?: readonly (infer Reply)[] }
  ? Reply extends { returns: infer R extends z.ZodType }
    ? z.output<R>
    : never
  : never
export type QueryInputOf<E> =
  E extends Endpoint<z.ZodType, infer Q, z.ZodType, z.ZodType> ? z.input<Q> : never
export type BodyInputOf<E> = E extends Endpoint<z.ZodType, z.ZodType, infer B, z.ZodType> ? z.input<B> : never
