import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TestCertificate } from '../../../../test/certificates.ts'
import { fixedCredentials } from '../credentials.ts'
import type { Connection } from '../kubeconfig.ts'
import type { Entry, Metadata, Pod, PodStatus } from '../objects.ts'

export type TestRequest = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  // The tests read what they wrote.
  // biome-ignore lint/suspicious/noExplicitAny: bodies have any shape
  body: any
}
/** Returns true when it answered, otherwise the server does. */
export type Intercept = (request: TestRequest, response: ServerResponse) => boolean

/**
 * An API server over HTTPS that stores objects, checks names and versions, and streams watches. It runs no pods: a
 * test sets their status.
 */
export type TestApi = {
  connection: Connection
  /** Method and path of every request so far. */
  requests: TestRequest[]
  intercept(handler: Intercept | null): void
  objects(kind: string): (Entry & Record<string, unknown>)[]
  put(kind: string, object: unknown): void
  /** `nodeName` is null before the pod has a node. */
  setPodStatus(name: string, status: PodStatus, nodeName?: string | null): void
  /** Removes the object, as the kubelet does after a deletion. */
  drop(kind: string, name: string): void
  /** Watches open now. */
  watches(): number
  /** Cuts all connections. */
  cut(): void
  /** Ends all watches with this line. */
  endWatches(line?: unknown): void
  close(): Promise<void>
}

type Stored = Entry & Record<string, unknown>
type Watcher = { kind: string; matches(object: Stored): boolean; response: ServerResponse }

/** When the test API receives every deletion of a pod with a node. */
const deletedAt = '2026-01-05T08:30:00Z'

export async function openTestApi(certificate: TestCertificate): Promise<TestApi> {
  const store = new Map<string, Map<string, Stored>>()
  const requests: TestRequest[] = []
  const watchers = new Set<Watcher>()
  const sockets = new Set<Socket>()
  const history: { kind: string; version: number; type: string; object: Stored }[] = []
  let version = 100
  let handler: Intercept | null = null

  const kindOf = (kind: string) => store.get(kind) ?? store.set(kind, new Map()).get(kind) ?? new Map()

  function change(kind: string, type: string, object: Stored): void {
    history.push({ kind, version, type, object: structuredClone(object) })
    for (const watcher of watchers)
      if (watcher.kind === kind && watcher.matches(object))
        watcher.response.write(`${JSON.stringify({ type, object })}\n`)
  }

  function save(kind: string, object: Stored, type: 'ADDED' | 'MODIFIED'): Stored {
    version += 1
    object.metadata.resourceVersion = String(version)
    kindOf(kind).set(object.metadata.name, object)
    change(kind, type, object)
    return object
  }

  function drop(kind: string, name: string): void {
    const object = kindOf(kind).get(name)
    if (!object) return
    version += 1
    kindOf(kind).delete(name)
    object.metadata.resourceVersion = String(version)
    change(kind, 'DELETED', object)
  }

  const server = createServer({ cert: certificate.cert, key: certificate.key }, (message, response) => {
    void answer(message, response)
  })
  server.on('secureConnection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })

  async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of message) text += String(chunk)
    const url = new URL(message.url ?? '', 'https://test')
    const request: TestRequest = {
      method: message.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: message.headers,
      body: text === '' ? null : JSON.parse(text),
    }
    requests.push(request)
    if (handler?.(request, response)) return
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const refuse = (code: number, reason: string, why: string) => send(code, { code, reason, message: why })
    if (url.pathname === '/version') return send(200, { gitVersion: 'v1.30.0' })
    const [, kind = '', name = '', sub] =
      /^\/apis?\/(?:[^/]+\/)?v1\/(?:namespaces\/[^/]+\/)?([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(
        url.pathname,
      ) ?? []
    const all = kindOf(kind)
    const current = all.get(name)
    const { method, body, query } = request
    if (method === 'GET' && name === '') return query.has('watch') ? watch(kind, query, response) : list()
    if (method === 'POST') return create()
    if (!current) return refuse(404, 'NotFound', `${kind} "${name}" not found`)
    if (sub === 'log') return void response.writeHead(200).end('')
    if (method === 'GET') return send(200, current)
    if (method === 'DELETE') return remove(current)
    const before = body.metadata?.resourceVersion
    if (before !== undefined && before !== current.metadata.resourceVersion)
      return refuse(409, 'Conflict', 'the object has been modified')
    const next =
      method === 'PATCH'
        ? merge(current, body)
        : { ...body, metadata: { ...current.metadata, ...body.metadata } }
    if (JSON.stringify(next) === JSON.stringify(current)) return send(200, current)
    return send(200, save(kind, next, 'MODIFIED'))

    function list() {
      const items = [...all.values()].filter(selector(query))
      send(200, { metadata: { resourceVersion: String(version) }, items: items.length > 0 ? items : null })
    }

    function create() {
      const metadata = body.metadata as Metadata
      if (all.has(metadata.name))
        return refuse(409, 'AlreadyExists', `${kind} "${metadata.name}" already exists`)
      const creationTimestamp = new Date(1_767_600_000_000 + version * 1000).toISOString()
      Object.assign(metadata, { uid: randomUUID(), creationTimestamp })
      send(201, save(kind, body, 'ADDED'))
    }

    function remove(object: Stored) {
      const uid = body?.preconditions?.uid
      if (uid !== undefined && uid !== object.metadata.uid) return refuse(409, 'Conflict', 'another uid')
      const isRunning = kind === 'pods' && Boolean((object as unknown as Pod).spec.nodeName)
      if (!isRunning) drop(kind, object.metadata.name)
      else if (object.metadata.deletionTimestamp === undefined) {
        const { gracePeriodSeconds = 30 } = body ?? {}
        const deletionTimestamp = new Date(Date.parse(deletedAt) + gracePeriodSeconds * 1000).toISOString()
        const deletion = { deletionTimestamp, deletionGracePeriodSeconds: gracePeriodSeconds }
        const metadata = { ...object.metadata, ...deletion }
        save(kind, { ...object, metadata }, 'MODIFIED')
      }
      send(200, { status: 'Success' })
    }
  }

  function watch(kind: string, query: URLSearchParams, response: ServerResponse): void {
    const from = Number(query.get('resourceVersion'))
    const watcher = { kind, matches: selector(query), response }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    for (const each of history)
      if (each.kind === kind && each.version > from && watcher.matches(each.object))
        response.write(`${JSON.stringify({ type: each.type, object: each.object })}\n`)
    watchers.add(watcher)
    response.on('close', () => watchers.delete(watcher))
  }

  const namespace = { name: 'agents', uid: 'uid-of-agents', resourceVersion: '' }
  save('namespaces', { metadata: namespace }, 'ADDED')
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    connection: {
      server: new URL(`https://127.0.0.1:${port}`),
      ca: certificate.cert,
      serverName: null,
      namespace: 'agents',
      isInCluster: false,
      credentials: fixedCredentials({ token: 'secret-token' }),
    },
    requests,
    intercept(next) {
      handler = next
    },
    objects: (kind) => [...kindOf(kind).values()],
    put(kind, object) {
      const stored = object as Stored
      stored.metadata = { ...stored.metadata, uid: stored.metadata.uid ?? randomUUID() }
      save(kind, stored, 'ADDED')
    },
    setPodStatus(name, status, nodeName = 'n1') {
      const pod = kindOf('pods').get(name)
      if (!pod) throw new Error(`there is no pod ${name}`)
      const spec = { ...(pod.spec as object), ...(nodeName !== null && { nodeName }) }
      save('pods', { ...pod, spec, status }, 'MODIFIED')
    },
    drop,
    watches: () => watchers.size,
    cut,
    endWatches(line) {
      for (const { response } of watchers) response.end(line === undefined ? '' : `${JSON.stringify(line)}\n`)
    },
    async close() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function selector(query: URLSearchParams): (object: Stored) => boolean {
  const labels = (query.get('labelSelector') ?? '').split(/,(?![^(]*\))/).filter((part) => part !== '')
  const [, name] = /^metadata\.name=(.+)$/.exec(query.get('fieldSelector') ?? '') ?? []
  return ({ metadata }) =>
    (name === undefined || metadata.name === name) &&
    labels.every((part) => {
      const [, of = '', values] = /^(\S+) in \((.*)\)$/.exec(part) ?? []
      if (values !== undefined) return values.split(',').includes(metadata.labels?.[of] ?? '')
      const [key = '', value] = part.split('=')
      return value === undefined ? metadata.labels?.[key] !== undefined : metadata.labels?.[key] === value
    })
}

function merge<T>(into: T, change: unknown): T {
  if (typeof change !== 'object' || change === null || Array.isArray(change)) return change as T
  const result: Record<string, unknown> = { ...(into as Record<string, unknown>) }
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete result[key]
    else result[key] = merge(result[key] ?? {}, value)
  }
  return result as T
}

/** Statuses of a pod's agent container, as the kubelet reports them. */
export const podStatus = {
  running: (containerID = 'containerd://1'): PodStatus => ({
    phase: 'Running',
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'True' },
      { type: 'ContainersReady', status: 'True' },
    ],
    containerStatuses: [
      { name: 'agent', containerID, state: { running: { startedAt: '2026-01-05T08:00:00Z' } } },
    ],
  }),
  /** The node stopped reporting: only the control plane changes `Ready`. */
  lost: (containerID = 'containerd://1'): PodStatus => ({
    ...podStatus.running(containerID),
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-05T09:00:00Z' },
      { type: 'ContainersReady', status: 'True' },
    ],
  }),
  /** After the deletion, if `finishedAt` is not given. */
  ended: (
    exitCode: number,
    containerID = 'containerd://1',
    finishedAt = '2026-01-05T08:30:05Z',
    startedAt = '2026-01-05T08:00:00Z',
  ): PodStatus => ({
    phase: 'Running',
    containerStatuses: [
      {
        name: 'agent',
        state: {
          terminated: {
            ...{ exitCode, containerID, reason: exitCode === 0 ? 'Completed' : 'Error' },
            ...{ startedAt, finishedAt },
          },
        },
      },
    ],
  }),
  /** The node found the container gone when it wanted to end it. */
  forgotten: (): PodStatus => ({
    phase: 'Running',
    containerStatuses: [
      {
        name: 'agent',
        state: { waiting: { reason: 'PodInitializing' } },
        lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
      },
    ],
  }),
  unschedulable: (message: string): PodStatus => ({
    phase: 'Pending',
    conditions: [
      {
        ...{ type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message },
        lastTransitionTime: '2026-01-05T08:00:00Z',
      },
    ],
  }),
  waiting: (reason: string, message?: string): PodStatus => ({
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'True' }],
    containerStatuses: [{ name: 'agent', state: { waiting: { reason, ...(message && { message }) } } }],
  }),
}
