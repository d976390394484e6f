import type { z } from 'zod'
import type { Access } from './access.ts'
import type { ErrorCode } from './errors.ts'

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
  /** An empty body counts as `{}`. */
  bodyOptional?: boolean
  /** Bytes; above: 413 `body_too_large`. */
  bodyLimit?: number
  /** Status of success; 200 unless said otherwise. */
  status?: 200 | 201 | 202 | 204
  /** The reply's shape; absent for 204 and for replies that are not JSON (see `streams`). */
  returns?: Returns
  /** The reply is not one JSON document: the media types it may have. */
  streams?: readonly string[]
  /** What a caller must be ready for, besides 401, 403 of the gate, 422 and 500. */
  fails?: readonly ErrorCode[]
  /** Every write has one: how the call is named in the audit log. Reads have none unless they are sensitive. */
  audit?: { type: AuditType; action: string }
}

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
>(value: Endpoint<Params, Query, Body, Returns>): Endpoint<Params, Query, Body, Returns> {
  return value
}

export type ParamsOf<E> = E extends Endpoint<infer P, z.ZodType, z.ZodType, z.ZodType> ? z.output<P> : never
export type QueryOf<E> = E extends Endpoint<z.ZodType, infer Q, z.ZodType, z.ZodType> ? z.output<Q> : never
export type BodyOf<E> = E extends Endpoint<z.ZodType, z.ZodType, infer B, z.ZodType> ? z.output<B> : never
export type ReplyOf<E> = E extends Endpoint<z.ZodType, z.ZodType, z.ZodType, infer R> ? z.output<R> : never
export type QueryInputOf<E> =
  E extends Endpoint<z.ZodType, infer Q, z.ZodType, z.ZodType> ? z.input<Q> : never
export type BodyInputOf<E> = E extends Endpoint<z.ZodType, z.ZodType, infer B, z.ZodType> ? z.input<B> : never
