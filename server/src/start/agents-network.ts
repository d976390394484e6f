import type { Clock } from '../kit/clock.ts'
import type { AgentsNetwork, Containers } from '../ports/containers/port.ts'
import type { Log } from '../ports/log.ts'

/** Where agents reach this machine. An engine that is away at the start says so when it is there. */
export type AgentsNetworkFinder = {
  /** Host under which agents reach the internal listener; loopback until it is known. */
  host(): string
  /**
   * Calls `listen` with the address on which agents are heard: at once when it is known, otherwise when the
   * engine answers first. What `listen` throws at once is thrown here; later it is logged, and tried again.
   */
  open(listen: (address: AgentsNetwork['hostAddress']) => Promise<void>): Promise<void>
  /** The network without a way out: made and listened on when it is first asked for. Throws what the engine says. */
  openClosed(): Promise<AgentsNetwork>
  close(): Promise<void>
}

const retryMs = 2_000

export async function findAgentsNetwork(deps: {
  containers: Pick<Containers, 'kind' | 'ensureNetwork' | 'ensureClosedNetwork'>
  clock: Pick<Clock, 'wait'>
  log: Pick<Log, 'info' | 'error'>
}): Promise<AgentsNetworkFinder> {
  const { containers, clock, log } = deps
  const closing = new AbortController()
  let looking = Promise.resolve()
  let closed: Promise<AgentsNetwork> | null = null
  const listener = Promise.withResolvers<(address: AgentsNetwork['hostAddress']) => Promise<void>>()
  let network = await containers.ensureNetwork().catch((error: unknown) => {
    log.error({ err: error }, 'the container engine does not answer; agents cannot be reached until it does')
    return null
  })

  async function openClosedNow(): Promise<AgentsNetwork> {
    const found = await containers.ensureClosedNetwork()
    const listen = await listener.promise
    // A sandbox has one socket for both.
    if (found.hostAddress.type === 'tcp') await listen(found.hostAddress)
    return found
  }

  async function keepLooking(listen: (address: AgentsNetwork['hostAddress']) => Promise<void>) {
    for (;;) {
      await clock.wait(retryMs, closing.signal)
      if (closing.signal.aborted) return
      const found = await containers.ensureNetwork().catch(() => null)
      if (!found || closing.signal.aborted) continue
      try {
        await listen(found.hostAddress)
        network = found
        log.info({ host: found.platformUrlHost }, 'the container engine is there; agents are heard')
        return
      } catch (error) {
        log.error({ err: error }, 'the address of the agents’ network cannot be listened on')
      }
    }
  }

  return {
    host: () => (containers.kind === 'docker' && network ? network.platformUrlHost : '127.0.0.1'),
    async open(listen) {
      listener.resolve(listen)
      if (network) return listen(network.hostAddress)
      looking = keepLooking(listen)
    },
    openClosed() {
      closed ??= openClosedNow().catch((error: unknown) => {
        closed = null
        throw error
      })
      return closed
    },
    close() {
      closing.abort()
      return looking
    },
  }
}
