import { formatPlatformAddress } from '@roost/contracts/link/addresses'
import type { Config } from '../config.ts'
import type { Clock } from '../kit/clock.ts'
import type { AgentsNetwork, Containers, HostAddress } from '../ports/containers/port.ts'
import type { Log } from '../ports/log.ts'

/** Finds the address at which agents reach this machine, even if the engine starts later. */
export type AgentsNetworkFinder = {
  /** Host of the internal listener for agents; loopback until it is known. */
  host(): string
  /** Address of the network to listen on; null until it is known. */
  hostAddress(): HostAddress | null
  /**
   * Calls `listen` with the address for agents, immediately or once the engine first responds. An error of the
   * immediate call is thrown; a later error is logged and the call retried.
   */
  open(listen: (address: HostAddress) => Promise<void>): Promise<void>
  /** Returns the network without outbound access, created on first use. Throws errors of the engine. */
  openClosedNetwork(): Promise<AgentsNetwork>
  close(): Promise<void>
}

const retryMs = 2_000

export async function findAgentsNetwork(deps: {
  containers: Pick<Containers, 'ensureNetwork' | 'ensureClosedNetwork'>
  clock: Pick<Clock, 'wait'>
  log: Pick<Log, 'info' | 'error'>
}): Promise<AgentsNetworkFinder> {
  const { containers, clock, log } = deps
  const closing = new AbortController()
  let searching = Promise.resolve()
  let closedNetwork: Promise<AgentsNetwork> | null = null
  const listener = Promise.withResolvers<(address: HostAddress) => Promise<void>>()
  let network = await containers.ensureNetwork().catch((error: unknown) => {
    log.error({ err: error }, 'the container engine does not respond; agents cannot be reached until it does')
    return null
  })

  async function listenOn(
    { hostAddress, formerAddresses = [] }: AgentsNetwork,
    listen: (address: HostAddress) => Promise<void>,
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
    // Other kinds of addresses serve both networks.
    if (created.hostAddress.type === 'tcp') await listenOn(created, listen)
    return created
  }

  async function keepSearching(listen: (address: HostAddress) => Promise<void>) {
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
    host: () => network?.platformUrlHost ?? '127.0.0.1',
    hostAddress: () => network?.hostAddress ?? null,
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

type AddressConfig = Pick<Config, 'internalPort' | 'internalHost' | 'agentAddresses'>

/**
 * Returns where agents reach this process, as in the contracts. The first one is for new containers. The agents' own
 * network comes first where this process listens on it: it needs no route, and closed networks have no other.
 */
export function ownAddresses(listensOn: HostAddress | null, config: AddressConfig): string[] {
  const { internalPort, internalHost, agentAddresses } = config
  const isNamed = internalHost !== null && internalHost !== 'any'
  const named = isNamed && agentAddresses.length === 0 ? [{ host: internalHost, port: null }] : agentAddresses
  const elsewhere = named.map(({ host, port }) => formatPlatformAddress({ host, port: port ?? internalPort }))
  const isOnNetwork = listensOn !== null && listensOn.type !== 'loopback'
  const onNetwork = isOnNetwork || elsewhere.length === 0 ? [`:${internalPort}`] : []
  return [...onNetwork, ...elsewhere]
}
