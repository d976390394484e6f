import { createHash } from 'node:crypto'
import { createConnection, createServer, type Server, type Socket } from 'node:net'

/**
 * Runs `work` while no other process of this machine runs work of the same name. The lock is a socket in the
 * kernel's abstract namespace. It needs no file, and the kernel releases it when its holder dies. Calls
 * `onWait` once if the lock is held elsewhere.
 */
export async function alone<T>(
  name: string,
  work: () => Promise<T>,
  options: { onWait?: () => void; signal?: AbortSignal } = {},
): Promise<T> {
  const address = addressOf(name)
  let waited = false
  for (;;) {
    options.signal?.throwIfAborted()
    const lock = await acquire(address)
    if (lock) {
      try {
        return await work()
      } finally {
        await lock.release()
      }
    }
    if (!waited) options.onWait?.()
    waited = true
    await untilReleased(address, options.signal)
  }
}

/** Runs `work` unless another process of this machine runs work of the same name. Null: it does. */
export async function ifAlone<T>(name: string, work: () => Promise<T>): Promise<{ result: T } | null> {
  const lock = await acquire(addressOf(name))
  if (!lock) return null
  try {
    return { result: await work() }
  } finally {
    await lock.release()
  }
}

/** True while a process of this machine runs work of this name. Does not disturb one that is about to. */
export function isRunning(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(addressOf(name))
    const end = (isHeld: boolean) => {
      socket.destroy()
      resolve(isHeld)
    }
    socket.on('connect', () => end(true))
    socket.on('error', () => end(false))
  })
}

function addressOf(name: string): string {
  return `\0roost-${createHash('sha256').update(name).digest('hex').slice(0, 24)}`
}

/** Returns null when another process holds the address. */
function acquire(address: string): Promise<{ release(): Promise<void> } | null> {
  return new Promise((resolve, reject) => {
    const waiting = new Set<Socket>()
    const server: Server = createServer((socket) => {
      waiting.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => waiting.delete(socket))
    })
    server.on('error', (error) =>
      'code' in error && error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    )
    server.listen(address, () => {
      server.unref()
      resolve({
        release: () =>
          new Promise((done) => {
            server.close(() => done())
            for (const socket of waiting) socket.destroy()
          }),
      })
    })
  })
}

/**
 * Waits until the holder closes the connection, by finishing or dying. A refused connection means that it
 * just ended.
 */
function untilReleased(address: string, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const socket = createConnection(address)
    const done = () => {
      signal?.removeEventListener('abort', done)
      socket.destroy()
      resolve()
    }
    signal?.addEventListener('abort', done, { once: true })
    socket.on('error', done)
    socket.on('close', done)
    // Without reading, the end of the stream goes unnoticed.
    socket.resume()
  })
}
