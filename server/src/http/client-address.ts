import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'

/** The address of who sends a request: what proxies say of it is believed of the named ones only. */
export function clientAddress(
  trustedProxies: readonly string[],
): (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string {
  // None on a unix socket, behind which a sandbox's agent stands.
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? ''
  const isTrusted = proxyAddress.compile([...trustedProxies])
  // It reads the socket and the headers, as the web framework has it do for the requests that it answers.
  return (request) => proxyAddress(request as IncomingMessage, isTrusted)
}
