import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'

/** Returns the client's IP address. Trusts forwarding headers of the given proxies only. */
export function clientAddress(
  trustedProxies: readonly string[],
): (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string {
  // Empty on a unix socket, which a sandboxed agent uses.
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? ''
  const isTrusted = proxyAddress.compile([...trustedProxies])
  // The library reads only the socket and the headers.
  return (request) => proxyAddress(request as IncomingMessage, isTrusted)
}

/** True for an address of this machine. Undefined on a unix socket, which a sandboxed agent uses. */
export function isLoopback(address: string | undefined): boolean {
  return (
    address !== undefined &&
    (address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.'))
  )
}
