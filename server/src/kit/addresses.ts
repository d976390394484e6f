import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Returns every address of a host name. */
export type Lookup = (host: string) => Promise<readonly string[]>

/** The addresses of a host, resolved once. Connections use them without another lookup. */
export type Located =
  | { ok: true; addresses: readonly string[] }
  | { ok: false; fault: 'not_found' | 'inner_address' }
export type Locate = (host: string, port: number, isOpened?: IsOpened) => Promise<Located>
/** Whether this inner address may be used after all; `isOwn` if it belongs to this machine. */
export type IsOpened = (address: string, port: number, isOwn: boolean) => boolean

/**
 * Resolves hosts of outbound connections and refuses inner addresses. One inner address among others refuses
 * the whole name: otherwise its DNS server could choose the address used.
 */
export function createLocate(options: {
  lookup: Lookup
  /** Allows inner addresses, because the platform's operator named the host. */
  mayBeInner?: boolean
  /** Addresses that the operator configured for `host:port`, inner or not; these are not looked up. */
  named?: ReadonlyMap<string, string>
  /** Further forbidden addresses: public ones of this machine. */
  isOwn?(address: string): boolean
  /** Further networks that count as inner, in CIDR notation. */
  closed?: readonly string[]
}): Locate {
  const { lookup, mayBeInner = false, named = new Map(), isOwn = () => false, closed = [] } = options
  const further4 = blockList(closed.filter(isFour), 'ipv4')
  const further6 = blockList(
    closed.filter((network) => !isFour(network)),
    'ipv6',
  )
  const isFurther = (address: string) =>
    isIP(address) === 4 ? further4.check(address, 'ipv4') : further6.check(address, 'ipv6')
  return async (name, port, isOpened = () => false) => {
    const host = name.replace(/^\[|\]$/g, '')
    const configured = named.get(`${host}:${port}`)
    if (configured !== undefined) return { ok: true, addresses: [configured] }
    const addresses = isIP(host) ? [host] : await lookup(host).catch(() => [])
    if (addresses.length === 0) return { ok: false, fault: 'not_found' }
    const isClosed = (address: string) =>
      !mayBeInner &&
      (isInnerAddress(address) || isFurther(address) || isOwn(address)) &&
      !isOpened(address, port, isOwn(address))
    return addresses.some(isClosed) ? { ok: false, fault: 'inner_address' } : { ok: true, addresses }
  }
}

/** A lookup function for `connect` that returns the resolved addresses for any name. */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, { all: wantsAll, family }, answer) => {
    const fitting = family === 4 || family === 6 ? all.filter((each) => each.family === family) : all
    const [first] = fitting
    if (!first) return answer(Object.assign(new Error('no such address'), { code: 'ENOTFOUND' }), '')
    if (wantsAll) answer(null, fitting)
    else answer(null, first.address, first.family)
  }
}

/**
 * Networks that lead to this machine or into a network around it, and reserved ones, which some use internally. The
 * outbound proxy, the packet filter of Docker and the network policies of Kubernetes close the same ones to agents.
 * Canonical and disjoint: nftables and Kubernetes refuse others.
 */
export const innerNetworks4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Azure's WireServer, which gives secrets to virtual machines.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  // Contains the metadata service of Oracle Cloud.
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
] as const
/** IPv6 ranges that embed IPv4 addresses are inner as a whole: a gateway might translate them. */
export const innerNetworks6 = [
  '::/96',
  '::ffff:0:0/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/32',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
] as const

const inner4 = blockList(innerNetworks4, 'ipv4')
/** A separate list: BlockList would also match IPv4-mapped IPv6 addresses. */
const inner6 = blockList(innerNetworks6, 'ipv6')

const isFour = (network: string) => !network.includes(':')

function blockList(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    list.addSubnet(address, Number(prefix), family)
  }
  return list
}

/** True for local and private addresses. Invalid input counts as inner (fail closed). */
export function isInnerAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return inner4.check(address, 'ipv4')
  // A zone (`%eth0`) names an interface of this machine.
  return family === 0 || address.includes('%') || inner6.check(address, 'ipv6')
}
