import type { Loose, Platform } from './platform.ts'

/** A live socket of a client that records every message. */
export type Live = {
  messages: Loose[]
  /** The next message of a type, received or future; earlier messages are skipped. */
  next(type: string, accept?: (message: Loose) => boolean): Promise<Loose>
  send(text: string): void
  readonly closed: Promise<number>
  end(): void
}

/** `path` includes the ticket or key. */
export function openLive(platform: Pick<Platform, 'url'>, path: string): Live {
  const socket = new WebSocket(platform.url.replace('http', 'ws') + path)
  const messages: Loose[] = []
  let arrival = Promise.withResolvers<void>()
  let read = 0
  const closed = new Promise<number>((done) => socket.addEventListener('close', ({ code }) => done(code)))
  socket.addEventListener('message', ({ data }) => {
    messages.push(data === 'pong' ? data : JSON.parse(data))
    arrival.resolve()
    arrival = Promise.withResolvers()
  })
  const closedEarly = closed.then((code) => {
    throw new Error(`closed with ${code} after ${JSON.stringify(messages.slice(-5))}`)
  })
  closedEarly.catch(() => {})
  return {
    messages,
    async next(type, accept = () => true) {
      for (;;) {
        while (read < messages.length) {
          const message = messages[read++]
          if ((message === type || message.type === type) && accept(message)) return message
        }
        // Generous, because a failed container start is retried after a minute.
        const late = AbortSignal.timeout(120_000)
        await Promise.race([
          arrival.promise,
          closedEarly,
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
