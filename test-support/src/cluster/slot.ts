import { isIPv4 } from 'node:net'

/** Clusters that may run at the same time on one machine. */
export const slotCount = 16
const firstOctet = 160

/**
 * The names and addresses of one cluster. Slots never overlap, so clusters that run at the same time cannot collide.
 * The range is `10.(160 + slot).0.0/16`.
 */
export type Slot = {
  number: number
  /** Prefix of control groups and links, and the comment of every rule; at most 8 characters for link names. */
  name: string
  /** Everything of the cluster has an address in this range. */
  network: string
  bridge: string
  /** The machine, as nodes and pods reach it. */
  hostAddress: string
  /** For the parts of the control plane that only this machine may reach. */
  loopback: string
  serviceNetwork: string
  /** The Service `kubernetes`. */
  apiServiceAddress: string
  apiPort: number
  node(number: number): NodePlan
}

export type NodePlan = {
  number: number
  /** Its name in Kubernetes. */
  name: string
  controlGroup: string
  address: string
  podNetwork: string
  /** The end of its cable on this machine. */
  link: string
}

export const maxNodes = 9

export function planSlot(number: number): Slot {
  const name = `roost-c${number}`
  const prefix = `10.${firstOctet + number}`
  return {
    number,
    name,
    network: `${prefix}.0.0/16`,
    bridge: `${name}-br`,
    hostAddress: `${prefix}.0.1`,
    loopback: `127.${firstOctet + number}.0.1`,
    serviceNetwork: `${prefix}.200.0/24`,
    apiServiceAddress: `${prefix}.200.1`,
    apiPort: 6443,
    node: (index) => ({
      number: index,
      name: `node-${index}`,
      controlGroup: `${name}-n${index}`,
      address: `${prefix}.0.${10 + index}`,
      podNetwork: `${prefix}.${100 + index}.0/24`,
      link: `${name}-n${index}`,
    }),
  }
}

/** True if a route or address of the machine lies in the network, or contains it. The default route does not count. */
export function isNetworkUsed(network: string, used: readonly string[]): boolean {
  const own = rangeOf(network)
  return used.some((text) => {
    const other = rangeOf(text)
    return own && other && other.first <= own.last && own.first <= other.last
  })
}

function rangeOf(network: string): { first: number; last: number } | null {
  const [address = '', bits = '32'] = network.split('/')
  if (!isIPv4(address)) return null
  const size = 2 ** (32 - Number(bits))
  const value = address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
  const first = Math.floor(value / size) * size
  return { first, last: first + size - 1 }
}
