/**
 * Addresses at which agents reach the platform: `host:port`, or `:port` for the host of `ROOST_LINK_URL`. The
 * second form fits every network of one machine, because the platform's host has another address in each.
 */
export type PlatformAddress = { host: string | null; port: number }

/** More addresses than an installation has processes. */
export const maxPlatformAddresses = 32

/**
 * Host of the local forwarder of an agent program. All of 127.0.0.0/8 is loopback; a host of its own tells the
 * platform's address apart from the agent's own servers.
 */
export const forwarderHost = '127.82.83.84'

/** Returns null for an invalid address. */
export function parsePlatformAddress(text: string): PlatformAddress | null {
  const [, ip6, name, digits = ''] = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (digits === '' || port < 1 || port > 65_535) return null
  if (ip6 !== undefined) return URL.canParse(`http://[${ip6}]/`) ? { host: ip6.toLowerCase(), port } : null
  if (name === '' || name === undefined) return { host: null, port }
  const isName = name.length <= 253 && /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(name)
  return isName ? { host: name.toLowerCase(), port } : null
}

/** The inverse of `parsePlatformAddress`; also the authority of a URL. */
export function formatPlatformAddress({ host, port }: PlatformAddress): string {
  return `${host?.includes(':') ? `[${host}]` : (host ?? '')}:${port}`
}
