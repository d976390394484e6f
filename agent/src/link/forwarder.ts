import { type AddressInfo, createConnection, createServer, type NetConnectOpts, type Socket } from 'node:net'
import type { Clock } from '../kit/clock.ts'

/**
 * Forwards connections of this container's programs to the platform: to the sandbox's socket, or to the process that
 * has the link. Programs keep one address while the platform's processes change.
 */
export type Forwarder = {
  readonly host: string
  readonly port: number
  /** Aborts connections to a process that no longer responds, so that programs repeat their requests. */
  cut(to: { host: string; port: number }): void
  close(): void
}

export type ForwarderDeps = {
  host: string
  /** 0 for any free port. */
  port: number
  /** Returns where the platform is now; null after a while without any. */
  locate(): Promise<NetConnectOpts | null>
  clock: Pick<Clock, 'after' | 'elapsed'>
}

/** How long a new connection waits for the platform, for example during its restart. */
export const patienceMs = 10_000
const againMs = 250
/** Detects an unreachable machine within half a minute, even if the link has moved already. */
const keepAliveMs = 15_000

type Pair = { near: Socket; far: Socket; to: NetConnectOpts }

/** Rejects if the address cannot be listened on. */
export function startForwarder({ host, port, locate, clock }: ForwarderDeps): Promise<Forwarder> {
  const pairs = new Set<Pair>()
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
    near.setNoDelay(true)
    near.on('error', () => near.destroy())
    void forward(near)
  })

  async function forward(near: Socket): Promise<void> {
    const deadline = clock.elapsed() + patienceMs
    while (!near.destroyed) {
      const to = await locate()
      if (to === null || near.destroyed) break
      if (await connected(near, to)) return
      if (clock.elapsed() >= deadline) break
      await new Promise<void>((done) => clock.after(againMs, done))
    }
    near.destroy()
  }

  /** False if the connection failed before it was established. */
  function connected(near: Socket, to: NetConnectOpts): Promise<boolean> {
    const far = createConnection({ ...to, allowHalfOpen: true })
    const pair = { near, far, to }
    const abandon = () => far.destroy()
    pairs.add(pair)
    near.once('close', abandon)
    return new Promise((resolve) => {
      far.once('close', () => {
        pairs.delete(pair)
        near.off('close', abandon)
        resolve(false)
      })
      far.on('error', () => far.destroy())
      far.once('connect', () => {
        join(near, far)
        resolve(true)
      })
    })
  }

  const forwarder = (at: number): Forwarder => ({
    host,
    port: at,
    cut(to) {
      for (const { near, far, to: where } of pairs) {
        if (!('port' in where) || where.host !== to.host || where.port !== to.port) continue
        // A clean end could look like the end of an answer. Before the connection there was no request.
        if (!far.connecting) near.resetAndDestroy()
        far.destroy()
      }
    },
    close() {
      server.close()
      for (const { near, far } of pairs) for (const each of [near, far]) each.destroy()
    },
  })

  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(forwarder((server.address() as AddressInfo).port)))
  })
}

function join(near: Socket, far: Socket): void {
  far.setNoDelay(true)
  far.setKeepAlive(true, keepAliveMs)
  near.pipe(far)
  far.pipe(near)
  // When either end breaks, the other one is closed too.
  near.on('close', () => far.destroy())
  far.on('close', () => near.destroy())
}
