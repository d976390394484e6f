import { socketCloseCodes } from '@roost/contracts/operations/sockets'
import type { WebSocket } from 'ws'
import { resyncMessage } from './envelope.ts'

export type Outgoing = {
  /** Sends a message, or queues it while the client is slow. Never waits, never throws. */
  send(message: Buffer): void
  /** Resolves when the queue is empty and the socket has room, or when it is closed. */
  drained(): Promise<void>
  /** Drops the queue and sends nothing more. */
  close(): void
}

/** Messages queued for a slow client before they are dropped. */
export const maxQueueLength = 256
const maxFailures = 3
/** Limits of data passed to the socket but not yet to the network. */
const maxInFlight = 32
const maxBufferedBytes = 1024 * 1024

/** Sends messages to one client in order, with a limited queue. */
export function createOutgoing(socket: WebSocket): Outgoing {
  let queue: Buffer[] = []
  let inFlight = 0
  let failures = 0
  let isClosed = false
  let waiting: PromiseWithResolvers<void> | null = null

  const hasRoom = () => inFlight < maxInFlight && socket.bufferedAmount < maxBufferedBytes

  const sent = (error?: Error | null) => {
    inFlight -= 1
    failures = error ? failures + 1 : 0
    if (failures === maxFailures && !isClosed) {
      close()
      socket.close(socketCloseCodes.failed, 'messages cannot be sent')
    }
    // Usually the queue is empty.
    if (queue.length > 0 || waiting) pump()
  }
  const transmit = (message: Buffer) => {
    inFlight += 1
    socket.send(message, { binary: false }, sent)
  }
  const pump = () => {
    let next = 0
    for (; next < queue.length && hasRoom() && !isClosed; next++) {
      const message = queue[next]
      if (message) transmit(message)
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
      if (queue.length === 0 && hasRoom()) return transmit(message)
      if (queue.length < maxQueueLength) return void queue.push(message)
      // The client fetches everything again, so the queued messages and this one are useless.
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
