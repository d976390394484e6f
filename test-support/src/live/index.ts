/**
 * A model that listens and speaks, as its provider serves it: the Live protocol over a real socket. What it hears
 * and says is told by the test; what it is sent is checked as the provider checks it.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { faultOf, path } from './protocol.ts'
import { createSession, type LiveSession } from './session.ts'

export { loudness, tone } from './audio.ts'
export type { LiveSession } from './session.ts'

export type LiveServer = {
  /** Base address of the provider's API, over HTTP. */
  url: string
  /** In the order in which they came. */
  sessions: LiveSession[]
  /** The next connection past its setup, there already or to come. */
  session(): Promise<LiveSession>
  /** From now on nothing answers: `refuse` with this status before the socket opens; null again serves. */
  refuseWith(status: number | null): void
  /** Whether setups are answered; those that came meanwhile are answered when they are again. */
  holdSetups(isHeld: boolean): void
  [Symbol.asyncDispose](): Promise<void>
}

const patienceMs = 60_000

/** `key`: the only one that is good. */
export async function startLiveServer({ key }: { key: string }): Promise<LiveServer> {
  const sessions: LiveSession[] = []
  const held: (() => void)[] = []
  let refusedWith: number | null = null
  let isHeld = false
  let given = 0
  let came = Promise.withResolvers<void>()
  const server = createServer((_request, response) => response.writeHead(404).end())
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 1024 * 1024 })

  server.on('upgrade', (request, stream, head) => {
    const address = new URL(`http://live${request.url}`)
    const status = refusedWith ?? (path.test(address.pathname) ? null : 404)
    if (status !== null) return void stream.end(`HTTP/1.1 ${status} no\r\nConnection: close\r\n\r\n`)
    const presented = request.headers['x-goog-api-key'] ?? address.searchParams.get('key')
    sockets.handleUpgrade(request, stream, head, (socket) => {
      let session: LiveSession | null = null
      let isFirst = true
      if (presented !== key) return socket.close(1007, 'API key not valid. Please pass a valid API key.')
      socket.on('error', () => socket.terminate())
      socket.on('message', (data) => {
        const message = parsed(String(data))
        const fault = faultOf(message, isFirst)
        isFirst = false
        if (fault !== null) return socket.close(1007, fault)
        // A setup was checked to be one.
        const { setup } = message as { setup?: object }
        if (setup === undefined) return session?.take(message)
        const begin = () => {
          session = createSession(socket, setup)
          session.send({ setupComplete: {} })
          sessions.push(session)
          came.resolve()
          came = Promise.withResolvers()
        }
        if (isHeld) held.push(begin)
        else begin()
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions,
    async session() {
      const tooLong = setTimeout(() => came.reject(new Error('Nobody has called the model.')), patienceMs)
      try {
        while (sessions.length <= given) await came.promise
      } finally {
        clearTimeout(tooLong)
      }
      const session = sessions[given++]
      if (!session) throw new Error('A session came and went.')
      return session
    },
    refuseWith(status) {
      refusedWith = status
    },
    holdSetups(value) {
      isHeld = value
      if (!value) for (const begin of held.splice(0)) begin()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
