import { BlockList, isIP, isIPv4 } from 'node:net'
import {
  type InnerNetworks,
  type OpenedNetwork,
  parseOpenedNetwork,
} from '@roost/contracts/agents/inner-networks'
import { parsePlatformAddress } from '@roost/contracts/link/addresses'
import type { Loop } from '../../background/loops.ts'
import type { Containers } from '../../ports/containers/port.ts'

/** The networks around this machine: closed to agents, except for those that an admin opened. */
export type InnerNetworkFilter = {
  view(): InnerNetworks
  put(opened: readonly string[]): Promise<void>
  /** Whether the proxy may connect agents to this inner address. */
  isOpened(address: string, port: number, isOfThisMachine: boolean): boolean
  readonly loop: Loop
  /** Applies the rules before the first agent starts. */
  open(): Promise<void>
}

export type InnerNetworkDeps = {
  containers: Pick<Containers, 'filterNetwork' | 'networkFilter'>
  /** Where agents reach the platform. */
  platformAddresses(): readonly string[]
  openedNetworks(): readonly string[]
  putOpenedNetworks(opened: readonly string[]): Promise<void>
}

export function createInnerNetworks(deps: InnerNetworkDeps): InnerNetworkFilter {
  const { containers, openedNetworks } = deps

  function apply(): Promise<void> {
    const known = deps.platformAddresses().map(parsePlatformAddress)
    return containers.filterNetwork({
      platformPorts: known.flatMap((each) => (each?.host === null ? [each.port] : [])),
      platformHosts: known.flatMap((each) => (each?.host ? [{ host: each.host, port: each.port }] : [])),
      opened: parsed(),
    })
  }

  function parsed(): OpenedNetwork[] {
    return openedNetworks()
      .map(parseOpenedNetwork)
      .filter((each) => typeof each !== 'string')
  }

  return {
    view() {
      const { isActive, problem } = containers.networkFilter
      return { opened: [...openedNetworks()], is_closed: isActive, problem }
    },
    async put(opened) {
      await deps.putOpenedNetworks([...new Set(opened)])
      await apply()
    },
    isOpened: (address, port, isOfThisMachine) =>
      parsed().some((network) => contains(network, address, port, isOfThisMachine)),
    // Also after a firewall was reloaded, which drops all rules, and after changes by other processes.
    loop: { name: 'agents.network-filter', everySeconds: 10, everywhere: true, run: apply },
    open: apply,
  }
}

/** A network opens the machines in it; addresses of this machine are opened one by one. */
function contains(
  { address: network, prefix, port: onlyPort }: OpenedNetwork,
  address: string,
  port: number,
  isOfThisMachine: boolean,
): boolean {
  if (isIP(address) !== isIP(network) || (onlyPort !== null && onlyPort !== port)) return false
  const family = isIPv4(network) ? 'ipv4' : 'ipv6'
  if (isOfThisMachine && prefix < (family === 'ipv4' ? 32 : 128)) return false
  const list = new BlockList()
  list.addSubnet(network, prefix, family)
  return list.check(address, family)
}
