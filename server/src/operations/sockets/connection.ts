import { ClientMessage, type ResyncReason } from '@roost/contracts/operations/sockets'
import type { RawData, WebSocket } from 'ws'
import type { Rendered } from './envelope.ts'
import { encode, resyncMessage } from './envelope.ts'
import { createOutgoing } from './outgoing.ts'
import type { EventView } from './visibility.ts'

/** An open socket: its client's position in the events, and whether it is alive. */
export type Connection = {
  /** Sends a live event. Ignored while earlier events are replayed, and for one that the client already has. */
  sendLive(rendered: Rendered, view: EventView): void
  /** Sends an earlier event; resolves when there is room for the next. */
  replay(rendered: Rendered, view: EventView): Promise<void>
  /** Position up to which the client has all events that it may see. */
  position(): number
  /** Starts to accept live events. */
  goLive(position: number): void
  startFrom(position: number): void
  resync(reason: ResyncReason, position: number): void
  send(message: object): void
  isOpen(): boolean
  /** Sends a ping, or ends the connection when the last two had no reply. */
  ping(): void
  close(code: number, reason: string): void
  terminate(): void
  readonly closed: Promise<void>
}

const maxUnanswered = 2

export function createConnection(
  socket: WebSocket,
  on: { refresh(): Promise<string[]>; error(error: unknown): void },
): Connection {
  const outgoing = createOutgoing(socket)
  const closed = Promise.withResolvers<void>()
  let isLive = false
  let position = 0
  let unanswered = 0
  let isRefreshing = false

  socket.on('message', (data) => {
    unanswered = 0
    answer(data)
  })
  socket.on('pong', () => {
    unanswered = 0
  })
  socket.on('error', (error) => on.error(error))
  socket.on('close', () => {
    outgoing.close()
    closed.resolve()
  })

  function answer(data: RawData): void {
    const text = data.toString()
    const request = readMessage(text)
    if (request === 'ping') outgoing.send(text.startsWith('{') ? pong : pongText)
    if (request === 'refresh') refresh()
  }

  /** One at a time; a repeated request gets the reply of the running one. */
  function refresh(): void {
    if (isRefreshing) return
    isRefreshing = true
    on.refresh()
      .then((accessible_agents) => outgoing.send(encode({ type: 'refreshed', accessible_agents })))
      .catch((error: unknown) => on.error(error))
      .finally(() => {
        isRefreshing = false
      })
  }

  function goLive(from: number): void {
    position = from
    isLive = true
  }

  return {
    sendLive(rendered, view) {
      const { event } = rendered
      if (!isLive || event.position < position) return
      // A signal has the position of the newest event, whose stored event was already sent.
      if (!event.signal && event.position === position) return
      position = event.position
      const message = rendered.bytes(view)
      if (message) outgoing.send(message)
    },
    async replay(rendered, view) {
      position = rendered.event.position
      const message = rendered.bytes(view)
      if (!message) return
      outgoing.send(message)
      await outgoing.drained()
    },
    position: () => position,
    goLive,
    startFrom(from) {
      position = from
    },
    resync(reason, from) {
      outgoing.send(resyncMessage(reason))
      goLive(from)
    },
    send: (message) => outgoing.send(encode(message)),
    isOpen: () => socket.readyState === socket.OPEN,
    ping() {
      if (unanswered >= maxUnanswered) return socket.terminate()
      unanswered += 1
      if (socket.readyState === socket.OPEN) socket.ping()
    },
    close(code, reason) {
      outgoing.close()
      socket.close(code, reason)
    },
    terminate: () => socket.terminate(),
    closed: closed.promise,
  }
}

const pong = encode({ type: 'pong' })
const pongText = Buffer.from('pong')

/** Null for unknown messages, which newer clients may send. */
function readMessage(text: string): 'ping' | 'refresh' | null {
  if (text === 'ping' || text === 'refresh') return text
  try {
    const message = ClientMessage.safeParse(JSON.parse(text))
    return message.success ? message.data.type : null
  } catch {
    return null
  }
}
