import { randomUUID } from 'node:crypto'
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Caller } from './keys.ts'

/** The key of a request and its current caller. */
export type KeyHolder = { keyId: string; caller: Caller }

/** A session of a client that speaks a protocol with sessions (before 2026-07-28). */
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
  /** Handles a request of a session, or the request that starts one. */
  handle(request: Request, holder: KeyHolder, parsedBody?: unknown): Promise<Response>
  /** Notifies the clients that the tools have changed. */
  toolsChanged(): Promise<void>
  /** Ends idle sessions. */
  sweep(): Promise<void>
  size(): number
  close(): Promise<void>
}

const idleMs = 30 * 60_000
/** Above this number the least recently used session of a key is ended. */
const maxSessionsPerKey = 200

export function createSessions(deps: {
  serverFor(callerNow: () => Caller): Server
  clock: { now(): number }
}): Sessions {
  const { clock } = deps
  const sessions = new Map<string, Session>()

  async function end(id: string): Promise<void> {
    const session = sessions.get(id)
    if (!session) return
    sessions.delete(id)
    await session.server.close()
  }

  async function startSession(request: Request, holder: KeyHolder, parsedBody: unknown): Promise<Response> {
    const current = { holder }
    const server = deps.serverFor(() => current.holder.caller)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized(id) {
        sessions.set(id, { current, transport, server, usedAt: clock.now(), open: 0 })
      },
      onsessionclosed: end,
    })
    await server.connect(transport)
    const response = await transport.handleRequest(request, { parsedBody })
    const isStarted = transport.sessionId !== undefined && sessions.has(transport.sessionId)
    if (!isStarted) await server.close()
    await endOldestOf(holder.keyId)
    return response
  }

  async function endOldestOf(keyId: string): Promise<void> {
    const own = [...sessions].filter(([, session]) => session.current.holder.keyId === keyId)
    if (own.length <= maxSessionsPerKey) return
    const oldest = own.toSorted(([, a], [, b]) => a.usedAt - b.usedAt)[0]
    if (oldest) await end(oldest[0])
  }

  return {
    async handle(request, holder, parsedBody) {
      const id = request.headers.get('mcp-session-id')
      if (id === null) return startSession(request, holder, parsedBody)
      const session = sessions.get(id)
      // Sessions of other keys are reported as unknown.
      if (!session || session.current.holder.keyId !== holder.keyId) return unknownSession()
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
      await Promise.all(idle.map(([id]) => end(id)))
    },
    size: () => sessions.size,
    async close() {
      await Promise.all([...sessions.keys()].map(end))
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

function unknownSession(): Response {
  const error = { code: -32001, message: 'Session not found' }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 })
}
