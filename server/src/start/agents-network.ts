import type { Clock } from '../kit/clock.ts'
import type { AgentsNetwork, Containers } from '../ports/containers/port.ts'
import type { Log } from '../ports/log.ts'

/** Finds the address at which agents reach this machine, even if the engine starts later. */
export type AgentsNetworkFinder = {
  /** Host of the internal listener for agents; loopback until it is known. */
  host(): string
  /**
   * Calls `listen` with the address for agents, immediately or once the engine first responds. An error of the
   * immediate call is thrown; a later error is logged and the call retried.
   */
  open(listen: (address: AgentsNetwork['hostAddress']) => Promise<void>): Promise<void>
  /** Returns the network without outbound access, created on first use. Throws errors of the engine. */
  openClosedNetwork(): Promise<AgentsNetwork>
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
  let searching = Promise.resolve()
  let closedNetwork: Promise<AgentsNetwork> | null = null
  const listener = Promise.withResolvers<(address: AgentsNetwork['hostAddress']) => Promise<void>>()
  let network = await containers.ensureNetwork().catch((error: unknown) => {
    log.error({ err: error }, 'the container engine does not respond; agents cannot be reached until it does')
    return null
  })

  async function listenOn(
    { hostAddress, formerAddresses = [] }: AgentsNetwork,
    listen: (address: AgentsNetwork['hostAddress']) => Promise<void>,
  ): Promise<void> {
    await listen(hostAddress)
    for (const address of formerAddresses) {
      await listen({ type: 'tcp', address }).catch((error: unknown) => {
        log.error({ err: error, address }, 'agents made before an update cannot connect; start them again')
      })
    }
  }

  async function openClosedNow(): Promise<AgentsNetwork> {
    const created = await containers.ensureClosedNetwork()
    const listen = await listener.promise
    // A sandbox uses one socket for both networks.
    if (created.hostAddress.type === 'tcp') await listenOn(created, listen)
    return created
  }

  async function keepSearching(listen: (address: AgentsNetwork['hostAddress']) => Promise<void>) {
    for (;;) {
      await clock.wait(retryMs, closing.signal)
      if (closing.signal.aborted) return
      const found = await containers.ensureNetwork().catch(() => null)
      if (!found || closing.signal.aborted) continue
      try {
        await listenOn(found, listen)
        network = found
        log.info({ host: found.platformUrlHost }, 'the container engine responds; agents can connect')
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
      if (network) return listenOn(network, listen)
      searching = keepSearching(listen)
    },
    openClosedNetwork() {
      closedNetwork ??= openClosedNow().catch((error: unknown) => {
        closedNetwork = null
        throw error
      })
      return closedNetwork
    },
    close() {
      closing.abort()
      return searching
    },
  }
}
