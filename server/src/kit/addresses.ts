import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Every address of a host name. */
export type Lookup = (host: string) => Promise<readonly string[]>

/** Where a host is, looked up once: who connects uses these addresses and asks no more. */
export type Located =
  | { ok: true; addresses: readonly string[] }
  | { ok: false; fault: 'not_found' | 'inner_address' }
export type Locate = (host: string, port: number) => Promise<Located>

/**
 * Looks up where outward connections lead, and refuses what leads inward. A name with one inner address among
 * others is refused as a whole: which of them is taken would be up to whoever answers for the name.
 */
export function createLocate(options: {
  lookup: Lookup
  /** Inner addresses are as good as others: the host was named by whoever runs the platform. */
  mayBeInner?: boolean
  /** Addresses that whoever runs the platform gave to `host:port`, inner or not; they are not looked up. */
  named?: ReadonlyMap<string, string>
  /** Further addresses that nobody may reach: those of this machine that are no inner ones. */
  isOwn?(address: string): boolean
}): Locate {
  const { lookup, mayBeInner = false, named = new Map(), isOwn = () => false } = options
  return async (name, port) => {
    const host = name.replace(/^\[|\]$/g, '')
    const given = named.get(`${host}:${port}`)
    if (given !== undefined) return { ok: true, addresses: [given] }
    const addresses = isIP(host) ? [host] : await lookup(host).catch(() => [])
    if (addresses.length === 0) return { ok: false, fault: 'not_found' }
    const isClosed = (address: string) => !mayBeInner && (isInnerAddress(address) || isOwn(address))
    return addresses.some(isClosed) ? { ok: false, fault: 'inner_address' } : { ok: true, addresses }
  }
}

/** For `connect` and its kind: what was looked up already, whatever the name. */
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

/** Addresses that lead to this machine or into a network around it. */
const inner4 = new BlockList()
/** Apart: the list compares addresses of IPv4 with those of IPv6 that stand for them. */
const inner6 = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  inner4.addSubnet(network, bits, 'ipv4')
}
for (const [network, bits] of [
  // Addresses of IPv4 written as others: what is behind them is not looked at.
  ['::', 96],
  ['::ffff:0:0', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 32],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  inner6.addSubnet(network, bits, 'ipv6')
}

/** Whether it leads to this machine or a network around it; what is no address counts as one. */
export function isInnerAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return inner4.check(address, 'ipv4')
  // A zone (`%eth0`) names an interface of this machine.
  return family === 0 || address.includes('%') || inner6.check(address, 'ipv6')
}
