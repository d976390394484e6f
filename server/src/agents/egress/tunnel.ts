import { createConnection, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pinnedLookup } from '../../kit/addresses.ts'
import { type Hello, readHello } from './hello.ts'
import { idleMs } from './relay.ts'
import type { Target } from './rules.ts'

const connectMs = 15_000
/** Ten times the size of today's largest client hello. */
const maxHelloBytes = 64 * 1024

/** Connects only to the given, already checked addresses. Rejects if none answers. */
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

/** Pipes bytes unchanged in both directions until either side closes or both are idle too long. */
export function join(near: Duplex, far: Socket, head: Buffer): void {
  closeTogether(near, far)
  if (head.length > 0) far.write(head)
  near.pipe(far)
  far.pipe(near)
}

/**
 * Like `join`, but holds the client's first bytes back until its TLS server name is known. Closes both sides
 * if the name is not allowed. The server may send first.
 */
export function joinNamed(
  near: Duplex,
  far: Socket,
  head: Buffer,
  mayName: (name: string | null) => Promise<boolean>,
): void {
  closeTogether(near, far)
  far.pipe(near)
  let received = head
  const decide = (hello: Exclude<Hello, 'more'>) => {
    near.off('data', receive)
    near.pause()
    // Fails closed: a broken hello does not reveal the requested host.
    const allowed = hello === 'none' ? Promise.resolve(true) : mayName(hello === 'broken' ? null : hello.name)
    void allowed
      .catch(() => false)
      .then((isAllowed) => {
        if (!isAllowed) return void far.destroy()
        far.write(received)
        near.pipe(far)
      })
  }
  const inspect = () => {
    const hello = readHello(received)
    if (hello !== 'more') return decide(hello)
    if (received.length > maxHelloBytes) decide('broken')
  }
  const receive = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    inspect()
  }
  near.on('data', receive)
  near.once('end', () => far.end())
  inspect()
}

/** Closes each side when the other one closes. */
function closeTogether(near: Duplex, far: Socket): void {
  far.setTimeout(idleMs, () => far.destroy())
  near.on('error', () => far.destroy())
  far.on('error', () => near.destroy())
  near.once('close', () => far.destroy())
  far.once('close', () => near.destroy())
}
