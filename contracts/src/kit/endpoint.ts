import type { z } from 'zod'
import type { Access } from './access.ts'
import type { ErrorCode } from './errors.ts'
import type { ReplyHeader, RequestHeader } from './headers.ts'

/**
 * An endpoint is a value: server routes, validation, documentation, the typed client and the table of who
 * may call what all read the same object.
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
  /** `json` unless said otherwise; `form` is `application/x-www-form-urlencoded`; `raw` hands the bytes on. */
  bodyKind?: 'json' | 'form' | 'raw'
  /** Of a `raw` body: the JSON that its bytes are, for the documentation; the handler reads it itself. */
  rawJson?: z.ZodType
  /** Of a `raw` body that is not JSON: its media types; `application/octet-stream` unless said otherwise. */
  accepts?: readonly string[]
  /** Headers that the handler reads, besides those that have a meaning of their own in every call. */
  headers?: readonly RequestHeader[]
  /** An empty body counts as `{}`. */
  bodyOptional?: boolean
  /**
   * Refuses unknown names in query and body with 422, so that a misspelt filter never widens the call. Set where a call
   * discards something or acts on many things; every DELETE is strict without it. See `inQuery` for fields in the query.
   */
  strict?: true
  /** Bytes; above: 413 `body_too_large`. */
  bodyLimit?: number
  /** Status of success; 200 unless said otherwise. */
  status?: 200 | 201 | 202 | 204
  /** The reply's shape; absent for 204 and for replies that are not JSON (see `streams`). */
  returns?: Returns
  /** Media types of a reply that is not one JSON document; beside `returns`, both forms exist. */
  streams?: readonly string[]
  /** Headers of a successful reply, besides those that every reply may have. */
  replyHeaders?: readonly ReplyHeader[]
  /** Further successful statuses. Without `returns` the reply has the form of `status`. */
  also?: readonly FurtherReply[]
  /** Errors besides those that follow from this value; see `failuresOf`. */
  fails?: readonly ErrorCode[]
  /** Every write has one: how the call is named in the audit log. Reads have none unless they are sensitive. */
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

/** Keeps the exact schema types; the value is returned as it is. */
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
