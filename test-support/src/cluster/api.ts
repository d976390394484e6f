import type { IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'

/** PEM texts of one user of the API. */
export type Credentials = { ca: string; cert: string; key: string }

export type Metadata = {
  name: string
  namespace?: string
  uid: string
  resourceVersion: string
  annotations?: Record<string, string>
  labels?: Record<string, string>
  deletionTimestamp?: string
}
export type KubeObject = { metadata: Metadata }

/** A response other than 2xx. `message` is the server's sentence. */
export class ApiError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type Api = {
  /** Sends one request; a PATCH is a JSON merge patch. Throws `ApiError`, or a network error. */
  request<T = unknown>(method: Method, path: string, body?: unknown): Promise<T>
  /** Like `request`, and returns the response as text, such as a log. */
  text(path: string): Promise<string>
  /**
   * Calls `onChange` with all objects of a collection, first now and then after every change, until `signal` aborts.
   * A connection that fails is opened again; the objects stay the same in the meantime.
   */
  follow<T extends KubeObject>(
    path: string,
    onChange: (objects: readonly T[]) => void,
    signal: AbortSignal,
  ): Promise<void>
  /** Resolves with the first result other than undefined. Rejects with the last state of the collection. */
  until<T extends KubeObject, R>(
    path: string,
    find: (objects: readonly T[]) => R | undefined,
    timeoutMs?: number,
  ): Promise<R>
  close(): void
}

const requestTimeoutMs = 60_000
const watchSeconds = 240
const retryMs = 200
const defaultWaitMs = 120_000

/** A small client of the Kubernetes API, independent of the one under test. `server` is an https URL. */
export function openApi(server: string, credentials: Credentials): Api {
  const agent = new Agent({ ...credentials, keepAlive: true })

  function send(
    method: Method,
    path: string,
    options: { body?: unknown; timeoutMs: number; signal?: AbortSignal },
  ) {
    const { body, timeoutMs, signal } = options
    const text = body === undefined ? undefined : JSON.stringify(body)
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    return new Promise<IncomingMessage>((resolve, reject) => {
      const headers =
        text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) }
      const request = httpsRequest(new URL(path, server), {
        method,
        headers,
        agent,
        signal,
        timeout: timeoutMs,
      })
      request.once('response', resolve).once('error', reject)
      request.once('timeout', () =>
        request.destroy(new Error(`${method} ${path}: no data for ${timeoutMs} ms`)),
      )
      request.end(text)
    })
  }

  async function receive(method: Method, path: string, body?: unknown): Promise<string> {
    const response = await send(method, path, { body, timeoutMs: requestTimeoutMs })
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    const status = response.statusCode ?? 0
    if (status >= 200 && status < 300) return text
    throw new ApiError(status, `${method} ${path}: ${status} ${messageOf(text)}`)
  }

  async function request<T>(method: Method, path: string, body?: unknown): Promise<T> {
    // The caller names the type that the API documents for this path.
    return JSON.parse(await receive(method, path, body)) as T
  }

  async function* watch<T extends KubeObject>(path: string, version: string, signal: AbortSignal) {
    const query = `watch=1&resourceVersion=${version}&timeoutSeconds=${watchSeconds}`
    const timeoutMs = (watchSeconds + 10) * 1000
    const response = await send('GET', withQuery(path, query), { timeoutMs, signal })
    let rest = ''
    for await (const chunk of response.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line) as { type: string; object: T }
    }
  }

  async function followOnce<T extends KubeObject>(
    path: string,
    onChange: (objects: readonly T[]) => void,
    signal: AbortSignal,
  ): Promise<void> {
    type List = { metadata: Metadata; items: T[] }
    const list = await request<List>('GET', path)
    const objects = new Map(list.items.map((item) => [item.metadata.uid, item]))
    onChange([...objects.values()])
    for await (const { type, object } of watch<T>(path, list.metadata.resourceVersion, signal)) {
      // After an error, such as an expired version, the loop lists again.
      if (type === 'ERROR') return
      if (type === 'DELETED') objects.delete(object.metadata.uid)
      else objects.set(object.metadata.uid, object)
      onChange([...objects.values()])
    }
  }

  async function follow<T extends KubeObject>(
    path: string,
    onChange: (objects: readonly T[]) => void,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      await followOnce(path, onChange, signal).catch(() => {})
      await pause(retryMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  return {
    request,
    text: (path) => receive('GET', path),
    follow,
    async until<T extends KubeObject, R>(
      path: string,
      find: (objects: readonly T[]) => R | undefined,
      timeoutMs = defaultWaitMs,
    ): Promise<R> {
      const stop = new AbortController()
      let last: readonly T[] = []
      const found = new Promise<R>((resolve, reject) => {
        const timer = setTimeout(
          () =>
            reject(new Error(`${path} did not reach the state within ${timeoutMs} ms:\n${describe(last)}`)),
          timeoutMs,
        )
        const check = (objects: readonly T[]) => {
          last = objects
          const result = find(objects)
          if (result === undefined) return
          clearTimeout(timer)
          resolve(result)
        }
        void follow(path, check, stop.signal)
      })
      return found.finally(() => stop.abort())
    },
    close: () => agent.destroy(),
  }
}

function withQuery(path: string, query: string): string {
  return path + (path.includes('?') ? '&' : '?') + query
}

/** Errors of the API are objects of kind `Status`. */
function messageOf(text: string): string {
  try {
    const status: unknown = JSON.parse(text)
    if (typeof status === 'object' && status && 'message' in status) return String(status.message)
  } catch {
    // The text is not an object, so it is the message itself.
  }
  return text.slice(0, 500)
}

function describe(objects: readonly KubeObject[]): string {
  return JSON.stringify(objects, null, 1).slice(0, 6_000)
}
