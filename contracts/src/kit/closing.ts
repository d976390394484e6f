/** The parts of Node's HTTP server that a graceful close needs: contracts do not import Node. */
export type ClosableServer = {
  on(event: 'connection', listener: (connection: Connection) => void): unknown
  on(event: 'request', listener: (request: unknown, response: OpenReply) => void): unknown
  close(done: () => void): unknown
  closeIdleConnections(): void
}
type Connection = { once(event: 'close', listener: () => void): unknown; destroy(): unknown }
type OpenReply = { once(event: 'close', listener: () => void): unknown; shouldKeepAlive: boolean }

/**
 * Tracks connections and open responses; call it before the server listens. `close` refuses new connections, waits up
 * to `graceMs` for open responses, then destroys all connections. It does not wait for idle or upgraded ones, which
 * their owners close first. Later calls wait for the same close.
 */
export function followServer(server: ClosableServer): { close(graceMs: number): Promise<void> } {
  const connections = new Set<Connection>()
  const replies = new Set<OpenReply>()
  let ending: Promise<void> | null = null
  let answered = () => {}

  server.on('connection', (connection) => {
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
  })
  server.on('request', (_request, response) => {
    replies.add(response)
    if (ending) response.shouldKeepAlive = false
    response.once('close', () => {
      replies.delete(response)
      if (replies.size === 0) answered()
    })
  })

  async function end(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(resolve))
    server.closeIdleConnections()
    // `Connection: close` keeps the client from reusing a connection that is about to end.
    for (const reply of replies) reply.shouldKeepAlive = false
    await new Promise<void>((resolve) => {
      answered = resolve
      const timer = setTimeout(resolve, graceMs)
      void closed.then(() => clearTimeout(timer))
      if (replies.size === 0) resolve()
    })
    for (const connection of connections) connection.destroy()
    await closed
  }

  return {
    close(graceMs) {
      ending ??= end(graceMs)
      return ending
    },
  }
}
