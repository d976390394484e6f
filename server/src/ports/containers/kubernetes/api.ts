import type { IncomingMessage } from 'node:http'
import { Agent, request as send } from 'node:https'
import { type Clock, systemClock } from '../../../kit/clock.ts'
import { ContainerError } from '../port.ts'
import type { Credential } from './credentials.ts'
import { ApiRefusal, isStatus } from './faults.ts'
import type { Connection } from './kubeconfig.ts'
import type { Entry, List, Status } from './objects.ts'

/** A client of the Kubernetes API for the few kinds that the adapter uses, in one namespace. */
export type Api = {
  readonly namespace: string
  /** Address from which this process reaches the API server; null before the first response. */
  readonly ownAddress: string | null
  /** Aborts when this client is closed, so that nobody waits for changes any longer. */
  readonly closed: AbortSignal
  version(signal?: AbortSignal): Promise<{ gitVersion: string }>
  get<T>(kind: Kind, name: string, options?: ReadOptions): Promise<T>
  /** All objects that match; the resource version is the one to watch from. */
  list<T>(kind: Kind, query: Selection, options?: ReadOptions): Promise<List<T>>
  create<T>(kind: Kind, object: unknown): Promise<T>
  /** A JSON merge patch. */
  patch<T>(kind: Kind, name: string, change: unknown): Promise<T>
  replace<T>(kind: Kind, name: string, object: unknown): Promise<T>
  /** `uid`: refuses with 409 if the name now belongs to another object. */
  delete(kind: Kind, name: string, options?: { uid?: string; graceSeconds?: number }): Promise<void>
  log(pod: string, query: LogQuery): Promise<string>
  /** A log as it grows, until the container ends or `signal` aborts. */
  followLog(pod: string, query: LogQuery, signal: AbortSignal): AsyncGenerator<string>
  /**
   * Lines of a watch. Throws `Idle` after `idleSeconds` without a byte, not counting the time in which the caller
   * handles a line.
   */
  watch(kind: Kind, query: WatchQuery, options: WatchReadOptions): AsyncGenerator<string>
  close(): void
}

export type Kind = keyof typeof paths
/** `labelSelector` and `fieldSelector` of the API. */
export type Selection = { labelSelector?: string; fieldSelector?: string }
export type WatchQuery = Selection & { resourceVersion: string; timeoutSeconds: number }
export type LogQuery = { container: string; tailLines: number; limitBytes?: number }
export type ReadOptions = {
  signal?: AbortSignal
  /** Without specification, data and status: only what every object has. */
  onlyMetadata?: boolean
}

export type WatchReadOptions = ReadOptions & {
  idleSeconds: number
  /** Called when the server has accepted the watch. */
  onOpen?: () => void
}

/** A stream without a byte for too long; its connection may be dead. */
export class Idle extends Error {}

/** Only stable versions, so that the adapter works with every cluster since 1.20. */
const paths = {
  pods: { group: '/api/v1', isNamespaced: true },
  secrets: { group: '/api/v1', isNamespaced: true },
  services: { group: '/api/v1', isNamespaced: true },
  persistentvolumeclaims: { group: '/api/v1', isNamespaced: true },
  networkpolicies: { group: '/apis/networking.k8s.io/v1', isNamespaced: true },
  namespaces: { group: '/api/v1', isNamespaced: false },
  nodes: { group: '/api/v1', isNamespaced: false },
  runtimeclasses: { group: '/apis/node.k8s.io/v1', isNamespaced: false },
} as const

const requestMs = 15_000
/** For one page with 500 objects. A larger response is an error of the server. */
const maxReplyBytes = 64 * 1024 ** 2
/** A Secret has at most 1 MB, twice in base64 and JSON. */
const maxLineBytes = 4 * 1024 ** 2
const pageSize = 500
/** Attempts of a request that the server refuses for overload, and the longest wait between two. */
const maxAttempts = 3
const maxRetryMs = 5_000
const keepAliveMs = 30_000

type Call = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  path: string
  /** Continues messages, such as "delete pods agent-ada". */
  what: string
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  contentType?: string
  accept?: string
  signal?: AbortSignal
}

export type ApiOptions = { namespace: string; clock?: Pick<Clock, 'wait'>; timeoutMs?: number }

export function createApi(connection: Connection, options: ApiOptions): Api {
  const { namespace } = options
  const clock = options.clock ?? systemClock
  const timeoutMs = options.timeoutMs ?? requestMs
  const closing = new AbortController()
  let ownAddress: string | null = null
  let agents: { of: string; requests: Agent; streams: Agent } | null = null

  /** Streams have their own connections, so that sixty watches never block a request. */
  function agentsFor(credential: Credential) {
    const of = `${credential.certificate ?? ''}${credential.key ?? ''}`
    if (agents?.of === of) return agents
    agents?.requests.destroy()
    const tls = {
      keepAlive: true,
      keepAliveMsecs: keepAliveMs,
      ...(connection.ca !== null && { ca: connection.ca }),
      ...(connection.serverName !== null && { servername: connection.serverName }),
      ...(credential.certificate && { cert: credential.certificate, key: credential.key }),
    }
    agents = { of, requests: new Agent({ ...tls, maxSockets: 16 }), streams: new Agent(tls) }
    return agents
  }

  /** Resolves with the headers; rejects with `ContainerError` engine_down without a reply. */
  async function open(call: Call, signal: AbortSignal, isStream: boolean): Promise<IncomingMessage> {
    const credential = await connection.credentials.current()
    const url = new URL(connection.server)
    url.pathname = url.pathname.replace(/\/$/, '') + call.path
    for (const [name, value] of Object.entries(call.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value))
    const body = call.body === undefined ? null : JSON.stringify(call.body)
    const { requests, streams } = agentsFor(credential)
    if (signal.aborted) throw noAnswer(call, signal.reason, signal)
    let reply: IncomingMessage | null = null
    const opened = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = send(
        url,
        {
          method: call.method,
          agent: isStream ? streams : requests,
          headers: {
            accept: call.accept ?? 'application/json',
            'user-agent': 'roost',
            ...(credential.token && { authorization: `Bearer ${credential.token}` }),
            ...(body !== null && {
              'content-type': call.contentType ?? 'application/json',
              'content-length': Buffer.byteLength(body),
            }),
          },
        },
        (answer) => {
          reply = answer
          resolve(answer)
          answer.on('error', () => {})
          answer.once('close', () => signal.removeEventListener('abort', onAbort))
        },
      )
      // Not the option `signal`: Node then throws an error that nobody can catch if the reply ends at the same time.
      const onAbort = () => {
        if (reply) reply.destroy()
        else request.destroy(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      request.on('error', (error) => {
        signal.removeEventListener('abort', onAbort)
        reject(error)
      })
      request.end(body)
    }).catch((error: unknown) => {
      throw noAnswer(call, error, signal)
    })
    ownAddress = opened.socket.localAddress ?? ownAddress
    return opened
  }

  async function attempt(call: Call): Promise<string> {
    const deadline = AbortSignal.timeout(timeoutMs)
    const signal = call.signal ? AbortSignal.any([deadline, call.signal]) : deadline
    const reply = await open(call, signal, false)
    const text = await readText(call, reply, signal)
    if ((reply.statusCode ?? 0) >= 400) throw refusalOf(call, reply, text)
    return text
  }

  async function call(request: Call): Promise<string> {
    let hasRenewed = false
    for (let count = 1; ; ) {
      try {
        return await attempt(request)
      } catch (error) {
        if (isStatus(error, 401) && !hasRenewed && connection.credentials.forget()) {
          hasRenewed = true
          continue
        }
        const waitMs = retryAfterMs(error)
        if (waitMs === null || waitMs > maxRetryMs || count >= maxAttempts || request.signal?.aborted)
          throw error
        count += 1
        await clock.wait(waitMs, request.signal)
      }
    }
  }

  async function json<T>(request: Call): Promise<T> {
    const text = await call(request)
    try {
      // The API documents the type for this path.
      return JSON.parse(text) as T
    } catch (cause) {
      throw new ContainerError('engine_fault', `${request.what}: the Kubernetes API sent no JSON`, { cause })
    }
  }

  async function* stream(
    request: Call,
    { idleMs, onOpen }: { idleMs: number | null; onOpen?: () => void },
  ): AsyncGenerator<string> {
    const ending = new AbortController()
    const signal = request.signal ? AbortSignal.any([ending.signal, request.signal]) : ending.signal
    // The deadline is for the headers; afterwards the idle limit applies.
    const timer = setTimeout(() => ending.abort(), timeoutMs)
    try {
      const reply = await open(request, signal, true)
      clearTimeout(timer)
      if ((reply.statusCode ?? 0) >= 400)
        throw refusalOf(request, reply, await readText(request, reply, signal))
      onOpen?.()
      yield* readLines(request, reply, idleMs)
    } finally {
      clearTimeout(timer)
      ending.abort()
    }
  }

  const pathOf = (kind: Kind, ...rest: string[]) => {
    const { group, isNamespaced } = paths[kind]
    const within = isNamespaced ? ['namespaces', namespace] : []
    return [group, ...within.map(encodeURIComponent), kind, ...rest.map(encodeURIComponent)].join('/')
  }
  const metadataOnly = (type: string) =>
    `application/json;as=${type};g=meta.k8s.io;v=v1,application/json;q=0.1`

  const logCall = (pod: string, query: LogQuery): Call => ({
    ...{ method: 'GET', path: pathOf('pods', pod, 'log'), what: `read the log of ${pod}`, query },
    accept: '*/*',
  })

  return {
    namespace,
    get ownAddress() {
      return ownAddress
    },
    version: (signal) => json({ method: 'GET', path: '/version', what: 'read the version', signal }),
    get: (kind, name, { signal, onlyMetadata } = {}) =>
      json({
        ...{ method: 'GET', path: pathOf(kind, name), what: `read ${kind} ${name}`, signal },
        ...(onlyMetadata && { accept: metadataOnly('PartialObjectMetadata') }),
      }),
    async list<T>(kind: Kind, query: Selection, { signal, onlyMetadata }: ReadOptions = {}) {
      const items: T[] = []
      for (let from: string | undefined; ; ) {
        const page: List<T> = await json<List<T>>({
          ...{ method: 'GET', path: pathOf(kind), what: `list ${kind}`, signal },
          query: { ...query, limit: pageSize, continue: from },
          ...(onlyMetadata && { accept: metadataOnly('PartialObjectMetadataList') }),
        })
        // Servers send null for an empty list of some kinds.
        items.push(...(page.items ?? []))
        from = page.metadata.continue || undefined
        if (from === undefined) return { metadata: page.metadata, items }
      }
    },
    create: (kind, object) =>
      json({ method: 'POST', path: pathOf(kind), what: `create ${kind} ${nameOf(object)}`, body: object }),
    patch: (kind, name, change) =>
      json({
        ...{ method: 'PATCH', path: pathOf(kind, name), what: `change ${kind} ${name}`, body: change },
        contentType: 'application/merge-patch+json',
      }),
    replace: (kind, name, object) =>
      json({ method: 'PUT', path: pathOf(kind, name), what: `replace ${kind} ${name}`, body: object }),
    async delete(kind, name, { uid, graceSeconds } = {}) {
      await call({
        ...{ method: 'DELETE', path: pathOf(kind, name), what: `delete ${kind} ${name}` },
        body: {
          propagationPolicy: 'Background',
          ...(uid !== undefined && { preconditions: { uid } }),
          ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }),
        },
      })
    },
    log: (pod, query) => call(logCall(pod, query)),
    followLog: (pod, query, signal) => {
      const request = logCall(pod, query)
      return stream({ ...request, query: { ...query, follow: true }, signal }, { idleMs: null })
    },
    watch: (kind, query, { signal, onlyMetadata, idleSeconds, onOpen }) =>
      stream(
        {
          ...{ method: 'GET', path: pathOf(kind), what: `watch ${kind}`, signal },
          query: { ...query, watch: true, allowWatchBookmarks: true },
          ...(onlyMetadata && { accept: metadataOnly('PartialObjectMetadata') }),
        },
        { idleMs: idleSeconds * 1000, onOpen },
      ),
    closed: closing.signal,
    close() {
      closing.abort()
      agents?.requests.destroy()
      agents?.streams.destroy()
      agents = null
    },
  }
}

function nameOf(object: unknown): string {
  const { metadata } = object as Partial<Entry>
  return metadata?.name ?? ''
}

/** `limit` includes the time limit of the request. */
function noAnswer({ what, signal }: Call, error: unknown, limit?: AbortSignal): ContainerError {
  if (error instanceof ContainerError) return error
  const why = signal?.aborted
    ? 'given up by the caller'
    : limit?.aborted
      ? 'no answer in time'
      : (error as Error).message
  return new ContainerError('engine_down', `${what}: the Kubernetes API does not answer: ${why}`, {
    cause: error,
  })
}

/** Seconds from `Retry-After`, kept beside the refusal. */
const retryAfter = new WeakMap<ApiRefusal, number>()

function retryAfterMs(error: unknown): number | null {
  if (!(error instanceof ApiRefusal) || !isStatus(error, 429, 503)) return null
  const seconds = retryAfter.get(error)
  return seconds === undefined ? null : seconds * 1000
}

function refusalOf({ what }: Call, reply: IncomingMessage, text: string): ApiRefusal {
  const body = statusIn(text)
  const refusal = new ApiRefusal(what, reply.statusCode ?? 0, body)
  const header = Number(reply.headers['retry-after'] ?? body.details?.retryAfterSeconds)
  if (Number.isFinite(header) && header >= 0) retryAfter.set(refusal, header)
  return refusal
}

/** A proxy in front of the API server may answer with other texts. */
function statusIn(text: string): Status {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return body
  } catch {}
  return { message: text.slice(0, 300) }
}

async function readText(call: Call, reply: IncomingMessage, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of reply as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > maxReplyBytes) {
        reply.destroy()
        throw new ContainerError(
          'engine_fault',
          `${call.what}: the reply has more than ${maxReplyBytes} bytes`,
        )
      }
      chunks.push(chunk)
    }
  } catch (error) {
    throw noAnswer(call, error, signal)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function* readLines(call: Call, reply: IncomingMessage, idleMs: number | null): AsyncGenerator<string> {
  reply.setEncoding('utf8')
  const chunks: AsyncIterator<string> = reply[Symbol.asyncIterator]()
  let rest = ''
  for (;;) {
    const next = await withIdleLimit(chunks.next(), idleMs).catch((error: unknown) => {
      reply.destroy()
      throw error instanceof Idle ? error : noAnswer(call, error)
    })
    if (next.done) break
    const lines = (rest + next.value).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > maxLineBytes) {
      reply.destroy()
      throw new ContainerError('engine_fault', `${call.what}: a line has more than ${maxLineBytes} bytes`)
    }
    yield* lines
  }
  if (rest !== '') yield rest
}

async function withIdleLimit<T>(next: Promise<T>, idleMs: number | null): Promise<T> {
  if (idleMs === null) return next
  let timer: NodeJS.Timeout | undefined
  const idle = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Idle(`nothing for ${idleMs / 1000} s`)), idleMs)
  })
  // After the limit the abandoned read rejects; nothing awaits it.
  next.catch(() => {})
  try {
    return await Promise.race([next, idle])
  } finally {
    clearTimeout(timer)
  }
}
