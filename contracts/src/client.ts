import type { z } from 'zod'
import type { Endpoint, FurtherReplyOf } from './kit/endpoint.ts'
import type { ErrorBody } from './kit/errors.ts'

/**
 * A reply with an error status. `body` is null when the reply is not from the platform (a proxy, a lost connection);
 * such a reply can have any status.
 */
export class ApiError extends Error {
  readonly status: number
  readonly body: ErrorBody | null
  constructor(status: number, body: ErrorBody | null) {
    super(body === null ? `HTTP ${status}` : sentence(body))
    this.name = 'ApiError'
    this.status = status
    this.body = body
  }
}

type Input<S, Key extends string> = S extends z.ZodUndefined
  ? { [K in Key]?: undefined }
  : { [K in Key]: z.input<S> }
export type CallInput<E> =
  E extends Endpoint<infer P, infer Q, infer B, z.ZodType>
    ? Input<P, 'params'> &
        (Q extends z.ZodUndefined ? { query?: undefined } : { query?: z.input<Q> }) &
        Input<B, 'body'> &
        CallExtras
    : never
export type CallExtras = { headers?: Record<string, string>; signal?: AbortSignal }
export type CallReply<E> =
  | (E extends Endpoint<z.ZodType, z.ZodType, z.ZodType, infer R> ? z.output<R> : never)
  | FurtherReplyOf<E>

export type Client = {
  /** Makes one call. Throws `ApiError` for an error status and for a reply that is not valid JSON. */
  call<E extends AnyEndpoint>(endpoint: E, input: CallInput<E>): Promise<CallReply<E>>
  /** Returns the raw response, even with an error status: for downloads and streams. */
  open<E extends AnyEndpoint>(endpoint: E, input: CallInput<E>): Promise<Response>
  /** Yields the objects of a line-delimited stream. Throws `ApiError` for an error status and for invalid JSON. */
  lines<E extends AnyEndpoint>(endpoint: E, input: CallInput<E>): AsyncIterable<Record<string, unknown>>
  /** Returns a client of the same address with another token. */
  withToken(token: string | null): Client
}

// Schemas vary in both directions, so the general form must not pin them.
type AnyEndpoint = Endpoint<never, never, never, never> | Endpoint

/**
 * Creates typed calls and streams for every client of the API: web, command line, MCP, tests. Every call sends the
 * headers `common`.
 */
export function createClient(
  baseUrl: string,
  token: string | null = null,
  common: Record<string, string> = {},
): Client {
  const open: Client['open'] = async (given, input) => {
    const endpoint = given as Endpoint
    const { params, query, body, headers, signal } = input as unknown as LooseInput
    const refusal = unaddressable(endpoint.path, params ?? {})
    if (refusal) return refusal
    const url = new URL(baseUrl.replace(/\/$/, '') + fillPath(endpoint.path, params ?? {}))
    for (const [key, value] of Object.entries(query ?? {})) {
      if (value !== undefined && value !== null) url.searchParams.set(key, String(value))
    }
    const encoded = encodeBody(endpoint, body)
    return fetch(url, {
      method: endpoint.method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(encoded?.type ? { 'content-type': encoded.type } : {}),
        ...common,
        ...headers,
      },
      body: encoded?.body ?? null,
      signal: signal ?? null,
      // `fetch` demands it for a body that is a stream.
      ...(endpoint.bodyKind === 'stream' ? { duplex: 'half' } : {}),
    })
  }
  return {
    open,
    call: async (endpoint, input) => {
      const response = await open(endpoint, input)
      if (!response.ok) throw await errorOf(response)
      if (response.status === 204) return undefined as never
      // The server owns the shape of its reply: fields of a newer server pass through.
      return readJson(response.status, await response.text()) as never
    },
    async *lines(endpoint, input) {
      const response = await open(endpoint, input)
      if (!response.ok) throw await errorOf(response)
      yield* parseLines(response)
    },
    withToken: (other) => createClient(baseUrl, other, common),
  }
}

type LooseInput = CallExtras & {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

async function* parseLines(response: Response): AsyncIterable<Record<string, unknown>> {
  if (!response.body) return
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield readJson(response.status, line)
  }
  if (rest.trim() !== '') yield readJson(response.status, rest)
}

function readJson(status: number, text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError(status, null)
  }
}

/** Returns the error of a response from `open`. */
export async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text()
  try {
    const body: unknown = JSON.parse(text)
    return new ApiError(response.status, isErrorBody(body) ? body : null)
  } catch {
    return new ApiError(response.status, null)
  }
}

/** True for an error body of the platform, false for that of a proxy in between. */
function isErrorBody(value: unknown): value is ErrorBody {
  if (typeof value !== 'object' || value === null || !('detail' in value)) return false
  return typeof value.detail === 'string' || Array.isArray(value.detail)
}

/** Path segments that URL parsing drops or resolves, encoded or not: a call would reach another endpoint. */
const droppedSegments = new Set(['', '.', '..'])

/**
 * Returns a 404 for a parameter that no URL can contain, because nothing can have such an id. Null when all parameters
 * are valid.
 */
function unaddressable(path: string, params: Record<string, unknown>): Response | null {
  for (const [, key = ''] of path.matchAll(parameters)) {
    const value = String(params[key])
    if (!droppedSegments.has(value) && value.isWellFormed()) continue
    const detail = `There is nothing here: "${key}" must not be empty, "." or "..", and must be whole characters.`
    const body: ErrorBody = { detail, error: 'not_found' }
    return new Response(JSON.stringify(body), {
      status: 404,
      headers: { 'content-type': 'application/json' },
    })
  }
  return null
}

const parameters = /\{([^}]+)\}/g

function fillPath(path: string, params: Record<string, unknown>): string {
  return path.replaceAll(parameters, (_, key: string) => encodeURIComponent(String(params[key])))
}

function encodeBody(
  endpoint: Endpoint,
  body: unknown,
): { type: string | null; body: string | Uint8Array<ArrayBuffer> | FormData | ReadableStream } | null {
  if (body === undefined) return null
  if (endpoint.bodyKind === 'form') {
    return {
      type: 'application/x-www-form-urlencoded',
      body: new URLSearchParams(body as Record<string, string>).toString(),
    }
  }
  // `fetch` chooses the boundary between the parts of a multipart form.
  if (body instanceof FormData) return { type: null, body }
  if (endpoint.bodyKind === 'stream')
    return { type: 'application/octet-stream', body: body as ReadableStream }
  if (endpoint.bodyKind === 'raw')
    return { type: 'application/octet-stream', body: body as Uint8Array<ArrayBuffer> }
  return { type: 'application/json', body: JSON.stringify(body) }
}

function sentence(body: ErrorBody): string {
  if (typeof body.detail === 'string') return body.detail
  return body.detail.map((issue) => `${issue.loc.slice(1).join('.') || 'body'} ${issue.msg}`).join('; ')
}
