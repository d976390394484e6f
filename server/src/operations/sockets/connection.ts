import { ClientMessage, type ResyncReason } from '@roost/contracts/operations/sockets'
import type { RawData, WebSocket } from 'ws'
import type { Rendered } from './envelope.ts'
import { encode, resyncMessage } from './envelope.ts'
import { createOutgoing } from './outgoing.ts'
import type { Shown } from './visibility.ts'

/** One open socket: where its client stands among the events, and whether it is still there. */
export type Connection = {
  /** What happens now. Passed over while earlier events are being sent, and when the client has it already. */
  take(rendered: Rendered, shown: Shown): void
  /** An earlier event, in order; resolves when more may be sent. */
  replay(rendered: Rendered, shown: Shown): Promise<void>
  /** The position up to which the client has everything that it may see. */
  position(): number
  /** From here on it gets what happens. */
  goLive(position: number): void
  startFrom(position: number): void
  resync(reason: ResyncReason, position: number): void
  send(message: object): void
  isOpen(): boolean
  /** Asks for a sign of life; ends the connection when the last two were not answered. */
  ping(): void
  close(code: number, reason: string): void
  terminate(): void
  readonly closed: Promise<void>
}

const unansweredMost = 2

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
    const wanted = readMessage(text)
    if (wanted === 'ping') outgoing.send(text.startsWith('{') ? pong : pongWord)
    if (wanted === 'refresh') refresh()
  }

  /** One at a time: who asks again meanwhile gets the answer that is on its way. */
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
    take(rendered, shown) {
      const { event } = rendered
      if (!isLive || event.position < position) return
      // A signal repeats the newest position; a stored event of it was sent already.
      if (!event.signal && event.position === position) return
      position = event.position
      const message = rendered.bytes(shown)
      if (message) outgoing.send(message)
    },
    async replay(rendered, shown) {
      position = rendered.event.position
      const message = rendered.bytes(shown)
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
      if (unanswered >= unansweredMost) return socket.terminate()
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
const pongWord = Buffer.from('pong')

/** Null for what is not understood: a later client may say more. */
function readMessage(text: string): 'ping' | 'refresh' | null {
  if (text === 'ping' || text === 'refresh') return text
  try {
    const message = ClientMessage.safeParse(JSON.parse(text))
    return message.success ? message.data.type : null
  } catch {
    return null
  }
}
