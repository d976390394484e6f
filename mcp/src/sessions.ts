import { randomUUID } from 'node:crypto'
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Caller } from './keys.ts'

/** Whose request it is: the key, and what it can do at this moment. */
export type KeyHolder = { keyId: string; caller: Caller }

/** A session of a client that speaks a protocol with sessions (before 2026-07-28). */
type Session = {
  /** Of the newest request; the key never changes. */
  current: { holder: KeyHolder }
  transport: WebStandardStreamableHTTPServerTransport
  server: Server
  usedAt: number
  /** Requests that are being answered; a stream that is listened to is one. */
  open: number
}

export type Sessions = {
  /** Answers a request of a session, or the one that begins a session. */
  handle(request: Request, holder: KeyHolder, parsedBody?: unknown): Promise<Response>
  /** The tools of the platform have changed. */
  toolsChanged(): Promise<void>
  /** Ends the sessions that nobody has used for a while. */
  sweep(): Promise<void>
  size(): number
  close(): Promise<void>
}

const idleMs = 30 * 60_000
/** A client that begins sessions without ending them loses its oldest. */
const mostOfOneKey = 200

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

  async function begin(request: Request, holder: KeyHolder, parsedBody: unknown): Promise<Response> {
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
    const isBegun = transport.sessionId !== undefined && sessions.has(transport.sessionId)
    if (!isBegun) await server.close()
    await endOldestOf(holder.keyId)
    return response
  }

  async function endOldestOf(keyId: string): Promise<void> {
    const own = [...sessions].filter(([, session]) => session.current.holder.keyId === keyId)
    if (own.length <= mostOfOneKey) return
    const oldest = own.toSorted(([, a], [, b]) => a.usedAt - b.usedAt)[0]
    if (oldest) await end(oldest[0])
  }

  return {
    async handle(request, holder, parsedBody) {
      const id = request.headers.get('mcp-session-id')
      if (id === null) return begin(request, holder, parsedBody)
      const session = sessions.get(id)
      // A session of another key does not exist for this one.
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
      const told = [...sessions.values()].map(({ server }) => server.sendToolListChanged())
      await Promise.allSettled(told)
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
 * The same response; `done` is called once its body has been sent or given up. A stream that is listened to begins
 * with a comment, because headers wait for the first bytes, and it ends when its listener goes: else the session
 * would refuse the one who comes back as a second listener.
 */
function whenRead(response: Response, { method, signal }: Request, done: () => void): Response {
  if (!response.body) {
    done()
    return response
  }
  const isStanding = method === 'GET' && response.ok
  const through = new TransformStream<Uint8Array, Uint8Array>({
    start(controller) {
      if (isStanding) controller.enqueue(new TextEncoder().encode(': listening\n\n'))
    },
  })
  response.body.pipeTo(through.writable, isStanding ? { signal } : {}).then(done, done)
  return new Response(through.readable, response)
}

function unknownSession(): Response {
  const error = { code: -32001, message: 'Session not found' }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 })
}
