import type { IncomingMessage, RequestListener } from 'node:http'
import { isIP, Socket } from 'node:net'
import { Fault } from '../kit/fault.ts'
import { isLoopback } from './client-address.ts'
import { answerProblem } from './raw-problem.ts'
import { requestId } from './request-id.ts'

/** Refuses foreign requests before any handler sees them; `agentsHosts` are the names under which agents connect. */
export function withoutForeign(agentsHosts: () => readonly string[], rest: RequestListener): RequestListener {
  return (request, response) => {
    const fault = foreignFault(request, agentsHosts())
    if (fault) return answerProblem(response, fault, requestId(request))
    return rest(request, response)
  }
}

/**
 * Returns the fault for requests that a web page may have sent: they carry an `Origin`, or the name of a page's own
 * host (DNS rebinding). Programs of the platform and of agents send neither.
 */
export function foreignFault(request: IncomingMessage, agentsHosts: readonly string[]): Fault | null {
  const { origin, host } = request.headers
  if (origin !== undefined)
    return new Fault('foreign_request', 'The internal listener refuses requests with an Origin header.')
  if (isOwnHost(request, agentsHosts)) return null
  const shown = JSON.stringify((host ?? '').slice(0, 100))
  return new Fault('foreign_request', `The internal listener has no host name ${shown}.`)
}

/** True for loopback, the address that the connection reached, and the names that agents are given. */
function isOwnHost({ headers, socket }: IncomingMessage, agentsHosts: readonly string[]): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:@/]+))(?::\d{1,5})?$/.exec(headers.host ?? '') ?? []
  const name = (bracketed ?? plain)?.toLowerCase()
  if (name === undefined) return false
  const local = socket instanceof Socket ? socket.localAddress?.replace(/^::ffff:/, '') : undefined
  return name === 'localhost' || agentsHosts.includes(name) || name === local || isLoopbackLiteral(name)
}

/** A name such as `127.0.0.1.example` is not an address. */
function isLoopbackLiteral(name: string): boolean {
  return isIP(name) !== 0 && isLoopback(name)
}
