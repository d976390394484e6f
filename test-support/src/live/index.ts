/**
 * A live voice model over a real socket with the provider's Live protocol. The test controls input and
 * output. Messages are validated as the provider validates them.
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
  /** Base address of the provider's API over HTTP. */
  url: string
  /** In order of connection. */
  sessions: LiveSession[]
  /** Returns the next connection after its setup, waiting for it if needed. */
  session(): Promise<LiveSession>
  /** Refuses new connections with this status; null accepts them again. */
  refuseWith(status: number | null): void
  /** Holds the answers to setups; those held are answered on release. */
  holdSetups(isHeld: boolean): void
  [Symbol.asyncDispose](): Promise<void>
}

const waitMs = 60_000

/** `key` is the only valid API key. */
export async function startLiveServer({ key }: { key: string }): Promise<LiveServer> {
  const sessions: LiveSession[] = []
  const heldSetups: (() => void)[] = []
  let refusalStatus: number | null = null
  let isHeld = false
  let delivered = 0
  let connected = Promise.withResolvers<void>()
  const server = createServer((_request, response) => response.writeHead(404).end())
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 1024 * 1024 })

  server.on('upgrade', (request, stream, head) => {
    const address = new URL(`http://live${request.url}`)
    const status = refusalStatus ?? (path.test(address.pathname) ? null : 404)
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
        // `faultOf` has checked the setup above.
        const { setup } = message as { setup?: object }
        if (setup === undefined) return session?.take(message)
        const begin = () => {
          session = createSession(socket, setup)
          session.send({ setupComplete: {} })
          sessions.push(session)
          connected.resolve()
          connected = Promise.withResolvers()
        }
        if (isHeld) heldSetups.push(begin)
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
      const tooLong = setTimeout(() => connected.reject(new Error('No session was opened in time.')), waitMs)
      try {
        while (sessions.length <= delivered) await connected.promise
      } finally {
        clearTimeout(tooLong)
      }
      const session = sessions[delivered++]
      if (!session) throw new Error('The session is missing.')
      return session
    },
    refuseWith(status) {
      refusalStatus = status
    },
    holdSetups(value) {
      isHeld = value
      if (!value) for (const begin of heldSetups.splice(0)) begin()
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
