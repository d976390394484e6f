import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The broker's paths in front of a model server, with a switch: a platform that restarts takes them away. */
export type TestBroker = {
  url: string
  /** Connections are refused and running answers broken off until `start`. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Cuts the next `count` requests off, as a platform does that goes away while it is asked. */
  cut(count: number): void
  /** Closes the connection of the next answer in order, but in its middle: behind that many bytes. */
  breakAfter(bytes: number): { happened(): boolean }
  [Symbol.asyncDispose](): Promise<void>
}

export async function startTestBroker(modelUrl: string): Promise<TestBroker> {
  let server: Server | null = null
  let port = 0
  let cuts = 0
  let breakAt: number | null = null
  let breaks = 0

  async function start() {
    server = createServer((incoming, outgoing) => {
      if (cuts > 0) {
        cuts -= 1
        incoming.socket.destroy()
        return
      }
      const path = (incoming.url ?? '').replace(/^\/broker\/(anthropic|google|openai)/, '')
      const onward = request(
        `${modelUrl}${path}`,
        { method: incoming.method, headers: incoming.headers },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
          const limit = breakAt
          breakAt = null
          if (limit === null) return void answer.pipe(outgoing)
          let bytes = 0
          answer.on('data', (chunk: Buffer) => {
            bytes += chunk.length
            if (bytes < limit) outgoing.write(chunk)
            else if (outgoing.socket?.writable) {
              breaks += 1
              outgoing.socket.end()
            }
          })
        },
      )
      onward.on('error', () => outgoing.destroy())
      outgoing.on('close', () => onward.destroy())
      incoming.pipe(onward)
    })
    await new Promise<void>((done) => server?.listen(port, '127.0.0.1', done))
    port = (server.address() as AddressInfo).port
  }

  async function stop() {
    const stopped = server
    server = null
    stopped?.closeAllConnections()
    await new Promise((done) => (stopped ? stopped.close(done) : done(null)))
  }

  await start()
  return {
    url: `http://127.0.0.1:${port}/broker`,
    start,
    stop,
    cut(count) {
      cuts = count
    },
    breakAfter(bytes) {
      breakAt = bytes
      const before = breaks
      return { happened: () => breaks > before }
    },
    [Symbol.asyncDispose]: stop,
  }
}
