import type { Loose, Platform } from './platform.ts'

/** A live socket of a client that keeps everything it was sent. */
export type Live = {
  messages: Loose[]
  /** The next message of a type, received or to come; what lies before it is passed over. */
  next(type: string, accept?: (message: Loose) => boolean): Promise<Loose>
  send(text: string): void
  readonly closed: Promise<number>
  end(): void
}

/** `path`: with its ticket or key, as a client would write it. */
export function openLive(platform: Pick<Platform, 'url'>, path: string): Live {
  const socket = new WebSocket(platform.url.replace('http', 'ws') + path)
  const messages: Loose[] = []
  let arrived = Promise.withResolvers<void>()
  let read = 0
  const closed = new Promise<number>((done) => socket.addEventListener('close', ({ code }) => done(code)))
  socket.addEventListener('message', ({ data }) => {
    messages.push(data === 'pong' ? data : JSON.parse(data))
    arrived.resolve()
    arrived = Promise.withResolvers()
  })
  const over = closed.then((code) => {
    throw new Error(`closed with ${code} after ${JSON.stringify(messages.slice(-5))}`)
  })
  over.catch(() => {})
  return {
    messages,
    async next(type, accept = () => true) {
      for (;;) {
        while (read < messages.length) {
          const message = messages[read++]
          if ((message === type || message.type === type) && accept(message)) return message
        }
        // What the engine failed to start is started again after a minute.
        const late = AbortSignal.timeout(120_000)
        await Promise.race([
          arrived.promise,
          over,
          new Promise((_, refuse) =>
            late.addEventListener('abort', () =>
              refuse(new Error(`no ${type} among ${JSON.stringify(messages.slice(-20))}`)),
            ),
          ),
        ])
      }
    },
    send: (text) => socket.send(text),
    closed,
    end: () => socket.close(),
  }
}
