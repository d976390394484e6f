import { socketCloseCodes } from '@roost/contracts/operations/sockets'
import type { WebSocket } from 'ws'
import { resyncMessage } from './envelope.ts'

export type Outgoing = {
  /** Sends, or queues while the client is behind. Never waits, never throws. */
  send(message: Buffer): void
  /** Resolves when the client has caught up so far that more may be sent in one go, or is gone. */
  drained(): Promise<void>
  /** Nothing is sent any more. */
  close(): void
}

/** Messages that wait for a slow client before they are dropped. */
export const longestQueue = 256
const failuresToClose = 3
/** Messages and bytes handed to the socket and not yet taken by the network. */
const inFlightMost = 32
const bytesMost = 1024 * 1024

/** What goes to one client, in order and bounded. */
export function createOutgoing(socket: WebSocket): Outgoing {
  let queue: Buffer[] = []
  let inFlight = 0
  let failures = 0
  let isClosed = false
  let waiting: PromiseWithResolvers<void> | null = null

  const hasRoom = () => inFlight < inFlightMost && socket.bufferedAmount < bytesMost

  const sent = (error?: Error | null) => {
    inFlight -= 1
    failures = error ? failures + 1 : 0
    if (failures === failuresToClose && !isClosed) {
      close()
      socket.close(socketCloseCodes.failed, 'messages cannot be sent')
    }
    // Most clients keep up: then there is nothing to go on with.
    if (queue.length > 0 || waiting) pump()
  }
  const hand = (message: Buffer) => {
    inFlight += 1
    socket.send(message, { binary: false }, sent)
  }
  const pump = () => {
    let next = 0
    for (; next < queue.length && hasRoom() && !isClosed; next++) {
      const message = queue[next]
      if (message) hand(message)
    }
    if (next > 0) queue = queue.slice(next)
    if (queue.length === 0 && (isClosed || hasRoom())) {
      waiting?.resolve()
      waiting = null
    }
  }
  const close = () => {
    isClosed = true
    queue = []
    pump()
  }

  return {
    send(message) {
      if (isClosed) return
      if (queue.length === 0 && hasRoom()) return hand(message)
      if (queue.length < longestQueue) return void queue.push(message)
      // The client fetches everything anew: what waited, this message included, is of no use to it.
      queue = [resyncMessage('slow_consumer')]
    },
    async drained() {
      if (isClosed || (queue.length === 0 && hasRoom())) return
      waiting ??= Promise.withResolvers()
      await waiting.promise
    },
    close,
  }
}
