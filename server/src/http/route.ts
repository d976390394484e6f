import type { Readable } from 'node:stream'
import type { BodyOf, Endpoint, ParamsOf, QueryOf, ReplyOf } from '@roost/contracts/kit/endpoint'
import type { z } from 'zod'
import type { Caller, Relation, SignedIn } from '../identity/access/caller.ts'

type AnyEndpoint = Endpoint<z.ZodType, z.ZodType, z.ZodType, z.ZodType>

/** What a handler is told of one request; everything in it is checked and typed by the endpoint. */
export type Call<E> = {
  params: ParamsOf<E>
  query: QueryOf<E>
  body: BodyOf<E>
  caller: Caller
  request: RequestFacts
}
/** For endpoints of who `any`, `admin`: the caller is known. */
export type SignedInCall<E> = Call<E> & { caller: SignedIn }
/** For endpoints of who `access`, `owner`, `agent`: the agent of the path was looked up and may be reached. */
export type AgentCall<E> = SignedInCall<E> & { agent: ReachedAgent; relation: Relation }

/** The least that the guard knows of an agent; features read the rest by its id. */
export type ReachedAgent = { id: string; name: string; owner_id: string; is_system: boolean }

export type RequestFacts = {
  id: string
  ip: string
  method: string
  path: string
  header(name: string): string | undefined
  /** Aborts when the client goes away. */
  signal: AbortSignal
  /** A `raw` body, once its bytes were looked at, as a JSON object. Throws `invalid_json`, `validation_error`. */
  readObject<T extends z.ZodType>(schema: T, bytes: Uint8Array): z.output<T>
  /** Facts for the audit entry that `http/` writes for this call; names, never secret values. */
  note(details: Record<string, unknown>): void
  /** Who has signed in with this call, or whose Workspace session it came with, for the audit entry. */
  actedBy(actor: Actor): void
  /** Who it was that called, where an internal route has found it out by itself. */
  calledBy(caller: Caller): void
}

/** A person by account; `id` is null for an address without one. */
export type Actor = { id: string | null; email: string | null }

/** An answer that is more than its JSON body. */
export type Answer = { answer: true; status?: number; headers?: Record<string, string>; body: unknown }
export function answer(
  body: unknown,
  extra: { status?: number; headers?: Record<string, string> } = {},
): Answer {
  return { answer: true, body, ...extra }
}

/** An answer that is not one JSON document, or one that is too large to be held; written as it comes. */
export type StreamAnswer = {
  stream: true
  contentType: string
  status?: number
  headers?: Record<string, string>
  body: AsyncIterable<string | Uint8Array> | Readable
}
export function streamAnswer(
  contentType: string,
  body: StreamAnswer['body'],
  extra: { status?: number; headers?: Record<string, string> } = {},
): StreamAnswer {
  return { stream: true, contentType, body, ...extra }
}

export type Handled<E> = ReplyOf<E> | Answer | StreamAnswer | undefined

/** An endpoint bound to what it does. */
export type Route = {
  endpoint: AnyEndpoint
  handle: (call: never) => Promise<unknown>
  /**
   * Throws when the route answers nobody, or not this caller, whatever is sent: asked before the body is read. For
   * rules about the path that the endpoint's access cannot say; the parameters are text as it came.
   */
  admit?: (asked: { caller: Caller; params: Readonly<Record<string, string>> }) => Promise<void>
}

export function route<E extends Endpoint<never, never, never, never> | AnyEndpoint>(
  endpoint: E,
  handle: (call: Call<E>) => Promise<Handled<E>>,
  options: Pick<Route, 'admit'> = {},
): Route {
  return { endpoint: endpoint as AnyEndpoint, handle, ...options }
}

export function signedInRoute<E extends Endpoint<never, never, never, never> | AnyEndpoint>(
  endpoint: E,
  handle: (call: SignedInCall<E>) => Promise<Handled<E>>,
  options: Pick<Route, 'admit'> = {},
): Route {
  return { endpoint: endpoint as AnyEndpoint, handle, ...options }
}

export function agentRoute<E extends Endpoint<never, never, never, never> | AnyEndpoint>(
  endpoint: E,
  handle: (call: AgentCall<E>) => Promise<Handled<E>>,
): Route {
  return { endpoint: endpoint as AnyEndpoint, handle }
}
