import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** The broker's paths in front of a model server. Can be stopped like a restarting platform. */
export type TestBroker = {
  url: string
  /** Bodies of all requests, oldest first. */
  bodies: readonly string[]
  /** Refuses connections and aborts running answers until `start`. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Drops the next `count` requests, like a platform that stops during a request. */
  cut(count: number): void
  /** Closes the connection of the next answer cleanly, but after `bytes` bytes. */
  breakAfter(bytes: number): { happened(): boolean }
  [Symbol.asyncDispose](): Promise<void>
}

export async function startTestBroker(modelUrl: string): Promise<TestBroker> {
  let server: Server | null = null
  let port = 0
  let cuts = 0
  let breakAt: number | null = null
  let breaks = 0
  const bodies: string[] = []

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
      void text(incoming).then(
        (body) => bodies.push(body),
        () => {},
      )
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
    bodies,
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
