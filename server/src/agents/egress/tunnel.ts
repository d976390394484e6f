import { createConnection, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pinnedLookup } from '../../kit/addresses.ts'
import { idleMs } from './relay.ts'
import type { Target } from './rules.ts'

const connectMs = 15_000

/** A connection to addresses that were checked, and to nothing else. Rejects when none of them answers. */
export function connectTo({ host, port }: Target, addresses: readonly string[]): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({
      host,
      port,
      lookup: pinnedLookup(addresses),
      autoSelectFamily: true,
      allowHalfOpen: true,
    })
    const timer = setTimeout(() => socket.destroy(new Error('no connection in time')), connectMs)
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.off('error', reject)
      resolve(socket)
    })
    socket.once('error', reject)
    socket.once('close', () => clearTimeout(timer))
  })
}

/** Hands bytes on both ways, untouched, until either side is gone or both are silent for long. */
export function join(near: Duplex, far: Socket, head: Buffer): void {
  far.setTimeout(idleMs, () => far.destroy())
  if (head.length > 0) far.write(head)
  near.pipe(far)
  far.pipe(near)
  near.on('error', () => far.destroy())
  far.on('error', () => near.destroy())
  near.once('close', () => far.destroy())
  far.once('close', () => near.destroy())
}
