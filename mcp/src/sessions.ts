import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { maxMarksPerRequest } from '@roost/contracts/identity/mcp-sessions'
import type { Caller } from './keys.ts'
import { type SessionIds, SessionStart, smallStart } from './session-ids.ts'

/** The key of a request and its current caller. */
export type KeyHolder = { keyId: string; caller: Caller }

/**
 * A session of a client that speaks a protocol with sessions (before 2026-07-28), as far as this process serves it. Its
 * id carries what another process needs to continue it.
 */
type Session = {
  /** The holder of the newest request; its key never changes. */
  current: { holder: KeyHolder }
  transport: WebStandardStreamableHTTPServerTransport
  server: Server
  usedAt: number
  /** Number of open requests, including streams. */
  open: number
}

export type Sessions = {
  /** Handles a request of a session, or the request that starts one. `parsedBody`: undefined without valid JSON. */
  handle(request: Request, holder: KeyHolder, parsedBody?: unknown): Promise<Response>
  /** Notifies the clients that the tools have changed. */
  toolsChanged(): Promise<void>
  /** Frees idle sessions; the next request continues them. */
  sweep(): Promise<void>
  size(): number
  close(): Promise<void>
}

/** Sessions that their clients ended, in all processes, by the marks of their ids. May reject. */
export type EndedSessions = {
  add(mark: string): Promise<void>
  /** Returns those of the marks that are ended. */
  of(marks: readonly string[]): Promise<string[]>
}

const idleMs = 30 * 60_000
/** Above these numbers the session that is idle longest is freed: of the key, or of the process. */
const maxSessionsPerKey = 200
const maxSessions = 2000
/** Sessions that their clients ended; the oldest are forgotten. */
const maxEnded = 10_000
/** The beginning of an id, which is random: whole ids would take megabytes. */
const markOf = (id: string) => id.slice(0, 16)

export function createSessions(deps: {
  serverFor(callerNow: () => Caller): Server
  ids: SessionIds
  ended: EndedSessions
  clock: { now(): number }
  keepaliveMs: number
}): Sessions {
  const { clock, ids } = deps
  const sessions = new Map<string, Session>()
  /** Requests of one session that arrive together continue it once. */
  const continuing = new Map<string, Promise<Session | null>>()
  /** Of this process, for the time that the API cannot be asked. */
  const ended = new Set<string>()

  async function free(id: string): Promise<void> {
    const session = sessions.get(id)
    if (!session) return
    sessions.delete(id)
    await session.server.close()
  }

  async function endByClient(id: string): Promise<void> {
    ended.add(markOf(id))
    const [oldest] = ended
    if (ended.size > maxEnded && oldest !== undefined) ended.delete(oldest)
    await Promise.all([free(id), deps.ended.add(markOf(id)).catch(() => {})])
  }

  /** Fails open: an ended session grants nothing without its key. */
  async function endedAmong(idsToAsk: readonly string[]): Promise<string[]> {
    const marks = new Set(await deps.ended.of(idsToAsk.map(markOf)).catch(() => []))
    return idsToAsk.filter((id) => ended.has(markOf(id)) || marks.has(markOf(id)))
  }

  async function open(holder: KeyHolder, id: string) {
    const current = { holder }
    const server = deps.serverFor(() => current.holder.caller)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessioninitialized() {
        sessions.set(id, { current, transport, server, usedAt: clock.now(), open: 0 })
      },
      onsessionclosed: endByClient,
      keepAliveMs: deps.keepaliveMs,
    })
    await server.connect(transport)
    return { server, transport }
  }

  async function startSession(request: Request, holder: KeyHolder, parsedBody: unknown): Promise<Response> {
    const { start, smallBody } = startOf(parsedBody)
    // The transport keeps this function, which must not keep the first caller in memory.
    const id = ids.issue(start, holder.keyId)
    const { server, transport } = await open(holder, id)
    const response = await transport.handleRequest(request, { parsedBody: smallBody })
    const isStarted = transport.sessionId !== undefined && sessions.has(transport.sessionId)
    if (!isStarted) await server.close()
    await freeBesides(id, holder.keyId)
    return response
  }

  /** Continues a session that another process started, or that was freed: its start is repeated here. */
  async function continueSession(id: string, holder: KeyHolder): Promise<Session | null> {
    const start = ids.read(id, holder.keyId)
    if (!start) return null
    const { transport, server } = await open(holder, id)
    const first = await transport.handleRequest(startRequest(start))
    await first.text()
    const session = sessions.get(id)
    if (!session) await server.close()
    await freeBesides(id, holder.keyId)
    return session ?? null
  }

  function find(id: string, holder: KeyHolder): Promise<Session | null> {
    const known = sessions.get(id)
    // Sessions of other keys are reported as unknown.
    if (known) return Promise.resolve(known.current.holder.keyId === holder.keyId ? known : null)
    const found = continuing.get(id) ?? continueSession(id, holder).finally(() => continuing.delete(id))
    continuing.set(id, found)
    return found.then((session) => (session?.current.holder.keyId === holder.keyId ? session : null))
  }

  /** Keeps the limits after the session `id` was added. */
  async function freeBesides(id: string, keyId: string): Promise<void> {
    const others = [...sessions].filter(([other]) => other !== id)
    const own = others.filter(([, session]) => session.current.holder.keyId === keyId)
    if (own.length >= maxSessionsPerKey) await freeIdlest(own)
    else if (others.length >= maxSessions) await freeIdlest(others)
  }

  async function freeIdlest(among: [string, Session][]): Promise<void> {
    const isInUse = ({ open }: Session) => Number(open > 0)
    const [idlest] = among.toSorted(([, a], [, b]) => isInUse(a) - isInUse(b) || a.usedAt - b.usedAt)
    if (idlest) await free(idlest[0])
  }

  return {
    async handle(request, holder, parsedBody) {
      const id = request.headers.get('mcp-session-id')
      if (id === null) return startSession(request, holder, parsedBody)
      const session = await find(id, holder)
      if (!session) return unknownSession()
      const [isEnded] = await endedAmong([id])
      if (isEnded !== undefined) {
        await free(id)
        return unknownSession()
      }
      session.current.holder = holder
      session.usedAt = clock.now()
      session.open += 1
      const response = await session.transport.handleRequest(request, { parsedBody })
      return whenRead(response, request, () => {
        session.open -= 1
        session.usedAt = clock.now()
      })
    },
    async toolsChanged() {
      const notified = [...sessions.values()].map(({ server }) => server.sendToolListChanged())
      await Promise.allSettled(notified)
    },
    async sweep() {
      const limit = clock.now() - idleMs
      const idle = [...sessions].filter(([, { open, usedAt }]) => open === 0 && usedAt < limit)
      await Promise.all(idle.map(([id]) => free(id)))
      // Their next request would be refused; a stream that is only read sends none.
      const streaming = [...sessions].filter(([, session]) => session.open > 0).map(([id]) => id)
      for (let from = 0; from < streaming.length; from += maxMarksPerRequest) {
        const over = await endedAmong(streaming.slice(from, from + maxMarksPerRequest))
        await Promise.all(over.map(free))
      }
    },
    size: () => sessions.size,
    async close() {
      await Promise.all([...sessions.keys()].map(free))
    },
  }
}

/**
 * Returns the same response and calls `done` once its body is sent or aborted. A GET stream starts with a comment,
 * because headers are sent with the first bytes. It ends when its client disconnects; otherwise the session would
 * refuse a reconnecting client as a second listener.
 */
function whenRead(response: Response, { method, signal }: Request, done: () => void): Response {
  if (!response.body) {
    done()
    return response
  }
  const isStream = method === 'GET' && response.ok
  const through = new TransformStream<Uint8Array, Uint8Array>({
    start(controller) {
      if (isStream) controller.enqueue(new TextEncoder().encode(': listening\n\n'))
    },
  })
  response.body.pipeTo(through.writable, isStream ? { signal } : {}).then(done, done)
  return new Response(through.readable, response)
}

const emptyStart: SessionStart = {
  protocolVersion: '',
  capabilities: {},
  clientInfo: { name: '', version: '' },
}

/**
 * Returns the start of a session, and the body with only that start: the SDK keeps all of it until the session is
 * freed. Empty for an invalid start, which the SDK refuses. A list of several messages cannot start a session.
 */
function startOf(body: unknown): { start: SessionStart; smallBody: unknown } {
  const message: unknown = Array.isArray(body) && body.length === 1 ? body[0] : body
  const isInitialize =
    typeof message === 'object' &&
    message !== null &&
    'method' in message &&
    message.method === 'initialize' &&
    'params' in message
  const read = isInitialize ? SessionStart.safeParse(message.params) : null
  if (!read?.success) return { start: emptyStart, smallBody: body }
  const start = smallStart(read.data)
  return { start, smallBody: { ...(message as object), params: start } }
}

function startRequest(params: SessionStart): Request {
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
}

function unknownSession(): Response {
  const error = { code: -32001, message: 'Session not found' }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 })
}
