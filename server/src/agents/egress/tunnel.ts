import { createConnection, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pinnedLookup } from '../../kit/addresses.ts'
import { type Hello, readHello } from './hello.ts'
import { idleMs } from './relay.ts'
import type { Target } from './rules.ts'

const connectMs = 15_000
/** Ten times what any has today. */
const longestHello = 64 * 1024

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
  tie(near, far)
  if (head.length > 0) far.write(head)
  near.pipe(far)
  far.pipe(near)
}

/**
 * The same, where what the near side says first is held back until it is known whom it asks for inside; both sides
 * are closed when that must not be. The far side may speak first.
 */
export function joinNamed(
  near: Duplex,
  far: Socket,
  head: Buffer,
  mayName: (name: string | null) => Promise<boolean>,
): void {
  tie(near, far)
  far.pipe(near)
  let held = head
  const decide = (hello: Exclude<Hello, 'more'>) => {
    near.off('data', take)
    near.pause()
    // Closed on purpose: of what cannot be read nobody knows whom it asks for.
    const allowed = hello === 'none' ? Promise.resolve(true) : mayName(hello === 'broken' ? null : hello.name)
    void allowed
      .catch(() => false)
      .then((isAllowed) => {
        if (!isAllowed) return void far.destroy()
        far.write(held)
        near.pipe(far)
      })
  }
  const look = () => {
    const hello = readHello(held)
    if (hello !== 'more') return decide(hello)
    if (held.length > longestHello) decide('broken')
  }
  const take = (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    look()
  }
  near.on('data', take)
  near.once('end', () => far.end())
  look()
}

/** Neither side outlives the other. */
function tie(near: Duplex, far: Socket): void {
  far.setTimeout(idleMs, () => far.destroy())
  near.on('error', () => far.destroy())
  far.on('error', () => near.destroy())
  near.once('close', () => far.destroy())
  far.once('close', () => near.destroy())
}
