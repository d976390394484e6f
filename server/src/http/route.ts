import type { Readable } from 'node:stream'
import type { BodyOf, Endpoint, ParamsOf, QueryOf, ReplyOf } from '@roost/contracts/kit/endpoint'
import type { z } from 'zod'
import type { Caller, Relation, SignedIn } from '../identity/access/caller.ts'

type AnyEndpoint = Endpoint<z.ZodType, z.ZodType, z.ZodType, z.ZodType>

/** The input of a handler, validated and typed by the endpoint. */
export type Call<E> = {
  params: ParamsOf<E>
  query: QueryOf<E>
  body: BodyOf<E>
  caller: Caller
  /** True for one of the platform's own processes, on the internal listener. */
  isPlatform?: boolean
  request: RequestInfo
}
/** For endpoints with `who` set to `any` or `admin`: the caller is signed in. */
export type SignedInCall<E> = Call<E> & { caller: SignedIn }
/** For endpoints with `who` set to `access`, `owner` or `agent`: the agent in the path exists and is visible. */
export type AgentCall<E> = SignedInCall<E> & { agent: RouteAgent; relation: Relation }

/** The fields of an agent that the guard needs; features read the rest by id. */
export type RouteAgent = { id: string; name: string; owner_id: string; is_system: boolean }

export type RequestInfo = {
  id: string
  ip: string
  method: string
  path: string
  header(name: string): string | undefined
  /** Aborts when the client disconnects. */
  signal: AbortSignal
  /** Parses a `raw` body as a JSON object, after its bytes were checked. Throws `invalid_json`, `validation_error`. */
  readObject<T extends z.ZodType>(schema: T, bytes: Uint8Array): z.output<T>
  /** Adds details to the audit entry of this request: names, never secret values. */
  note(details: Record<string, unknown>): void
  /** Writes no audit entry if the request succeeds: a later request reports the whole action. */
  omitFromAudit(): void
  /** Ends the response when its caller changes and no longer passes. Call it before reading `signal`. */
  endUnless(mayReceive: (caller: Caller) => boolean): void
  /** Sets the actor of the audit entry: a person who signed in now, or the owner of a Workspace session. */
  actedBy(actor: Actor): void
}

/** The parts of a request that limits of attempts need. The endpoint must declare the header `Cookie`. */
export function originOf({ ip, header }: RequestInfo): { ip: string; cookies: string | undefined } {
  return { ip, cookies: header('Cookie') }
}

/** A person by account; `id` is null for an address without one. */
export type Actor = { id: string | null; email: string | null }

/** A response with its own status or headers. */
export type Answer = { answer: true; status?: number; headers?: Record<string, string>; body: unknown }
export function answer(
  body: unknown,
  extra: { status?: number; headers?: Record<string, string> } = {},
): Answer {
  return { answer: true, body, ...extra }
}

/** A streamed response: not JSON, or too large to hold in memory. */
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

/** An endpoint with its handler. */
export type Route = {
  endpoint: AnyEndpoint
  handle: (call: never) => Promise<unknown>
  /**
   * Throws if the route refuses this caller regardless of the body, before the body is read. For rules that the
   * endpoint's access cannot express. The path parameters are not validated yet.
   */
  admit?: (request: UnreadRequest) => Promise<unknown>
}

/** A request whose body was not read yet. */
export type UnreadRequest = {
  caller: Caller
  params: Readonly<Record<string, string>>
  ip: string
  authorization: string | undefined
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
