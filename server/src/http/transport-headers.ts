import type { IncomingMessage, RequestListener } from 'node:http'
import { TLSSocket } from 'node:tls'
import proxyAddress from '@fastify/proxy-addr'

/** One year: browsers then use HTTPS for this host without asking HTTP first. */
const strictTransport = 'max-age=31536000'

/**
 * Adds `nosniff` to every response, and HSTS to those that travel over HTTPS: here, or up to a trusted proxy that says
 * so.
 */
export function withTransportHeaders(
  trustedProxies: readonly string[],
  rest: RequestListener,
): RequestListener {
  const isSecure = secureRequests(trustedProxies)
  return (request, response) => {
    response.setHeader('x-content-type-options', 'nosniff')
    if (isSecure(request)) response.setHeader('strict-transport-security', strictTransport)
    rest(request, response)
  }
}

function secureRequests(trustedProxies: readonly string[]): (request: IncomingMessage) => boolean {
  const isTrusted = proxyAddress.compile([...trustedProxies])
  return ({ socket, headers }) => {
    if (socket instanceof TLSSocket) return true
    const scheme = [headers['x-forwarded-proto']].flat()[0]?.split(',')[0]?.trim()
    return scheme === 'https' && isTrusted(socket.remoteAddress ?? '', 0)
  }
}
