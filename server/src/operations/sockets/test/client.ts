import assert from 'node:assert/strict'
import { once } from 'node:events'
import { WebSocket } from 'ws'

// biome-ignore lint/suspicious/noExplicitAny: any message
export type Message = any

/** A client of a live socket, over a real connection. */
export type Client = AsyncDisposable & {
  /** All received messages in order, parsed if they are JSON. */
  messages: Message[]
  /** The next message, received or future, that `accept` returns true for. Skips messages before it. */
  next(accept: string | ((message: Message) => boolean)): Promise<Message>
  /** Received events, without the socket's own messages. */
  events(): Message[]
  /** The newest received event id. */
  lastEventId(): string | undefined
  send(text: string): void
  /** Stops reading, like a hanging client. */
  deaf(): void
  hear(): void
  readonly closed: Promise<{ code: number; reason: string }>
  cut(): void
}

export const numbers = (messages: Message[]): number[] => messages.map(({ n }) => n)
export const isNumber = (n: number) => (message: Message) => message.n === n

const own = ['connected', 'refreshed', 'resync_required', 'pong']

export async function dial(
  url: string,
  options: { autoPong?: boolean; onMessage?(message: Message): void } = {},
): Promise<Client> {
  const { autoPong = true, onMessage } = options
  const socket = new WebSocket(url, { perMessageDeflate: false, autoPong })
  const messages: Message[] = []
  const closed = once(socket, 'close').then(([code, reason]) => ({
    code: Number(code),
    reason: String(reason),
  }))
  let arrived = Promise.withResolvers<void>()
  let read = 0
  socket.on('message', (data) => {
    const message = parse(String(data))
    messages.push(message)
    onMessage?.(message)
    arrived.resolve()
    arrived = Promise.withResolvers()
  })
  socket.on('error', () => {})
  let isClosed = false
  void closed.then(() => {
    isClosed = true
    arrived.resolve()
  })
  const [opened] = await Promise.race([
    once(socket, 'open').then(() => [true]),
    once(socket, 'unexpected-response').then(([, response]) => [response.statusCode as number]),
  ])
  if (opened !== true) throw new Error(`refused with ${opened}`)

  return {
    messages,
    async next(accept) {
      const fits = typeof accept === 'string' ? (message: Message) => message.type === accept : accept
      for (;;) {
        while (read < messages.length) {
          const message = messages[read++]
          if (fits(message)) return message
        }
        if (isClosed) assert.fail(`the socket was closed before ${accept}`)
        await arrived.promise
      }
    },
    events: () => messages.filter((message) => !own.includes(message.type)),
    lastEventId: () => messages.findLast((message) => message._eid)?._eid,
    send: (text) => socket.send(text),
    deaf: () => socket.pause(),
    hear: () => socket.resume(),
    closed,
    cut: () => socket.terminate(),
    [Symbol.asyncDispose]: async () => {
      socket.terminate()
      await closed
    },
  }
}

function parse(text: string): Message {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
