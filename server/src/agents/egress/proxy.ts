import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import type { EgressEntry } from '@roost/contracts/agents/egress'
import type { Locate } from '../../kit/addresses.ts'
import type { Log } from '../../ports/log.ts'
import type { Interceptor } from './intercept.ts'
import type { EgressRecord } from './record.ts'
import { relay } from './relay.ts'
import { boundTo, judge, type Policy, parseTarget, type Target, type Verdict } from './rules.ts'
import { connectTo, join, joinNamed } from './tunnel.ts'

/**
 * The agents' outbound proxy on the internal listener: CONNECT for encrypted traffic, absolute URLs for plain
 * HTTP. Fails closed when agent, target, address or permission cannot be determined.
 */
export type EgressProxy = {
  /** Serves CONNECT. Never rejects. */
  connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  /** Serves requests with an absolute URL (`GET http://host/`). Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Resolves when the traffic so far is recorded. */
  settled(): Promise<void>
  close(): Promise<void>
}

export type ProxyDeps = {
  /** Authenticates the agent and returns its policy; null for invalid credentials. */
  admit(authorization: string | undefined): Promise<{ agentId: string; policy: Policy } | null>
  policyOf(agentId: string): Promise<Policy>
  locate: Locate
  interceptor: Interceptor
  record: EgressRecord
  log: Pick<Log, 'warn'>
}

/** Concurrent connections per agent. */
export const maxConnections = 256

type Route =
  | {
      ok: true
      agentId: string
      target: Target
      verdict: Verdict
      addresses: readonly string[]
      done(): void
    }
  | { ok: false; status: number; words: string }

export function createProxy(deps: ProxyDeps): EgressProxy {
  const { admit, policyOf, locate, interceptor, record, log } = deps
  const open = new Map<string, number>()
  const tunnels = new Set<Duplex>()

  function reserve(agentId: string): (() => void) | null {
    const now = open.get(agentId) ?? 0
    if (now >= maxConnections) return null
    open.set(agentId, now + 1)
    let isDone = false
    return () => {
      if (isDone) return
      isDone = true
      const left = (open.get(agentId) ?? 1) - 1
      if (left > 0) open.set(agentId, left)
      else open.delete(agentId)
    }
  }

  /** Authenticates, judges and then resolves. The order ensures that denied hosts are never resolved. */
  async function routeTo(authorization: string | undefined, target: Target | null): Promise<Route> {
    const admitted = await admit(authorization)
    if (!admitted) return { ok: false, status: 407, words: 'agents of this platform only' }
    const { agentId, policy } = admitted
    const deny = (at: Target, reason: EgressEntry['reason'], status: number, words: string): Route => {
      record.attempt(agentId, at, { decision: 'denied', reason })
      return { ok: false, status, words }
    }
    if (!target) return deny({ host: '?', port: 0 }, 'malformed', 400, 'not a host and a port')
    const verdict = judge(policy, target)
    if (verdict.decision === 'denied')
      return deny(target, verdict.reason, 403, `${target.host} is not allowed`)
    const done = reserve(agentId)
    if (!done) return { ok: false, status: 429, words: 'too many connections' }
    try {
      const found = await locate(target.host, target.port)
      if (found.ok) return { ok: true, agentId, target, verdict, addresses: found.addresses, done }
      done()
      return found.fault === 'inner_address'
        ? deny(target, 'inner_address', 403, `${target.host} resolves to an internal address`)
        : deny(target, 'not_found', 502, `${target.host} was not found`)
    } catch (error) {
      done()
      throw error
    }
  }

  /** In mode `off` only denials are recorded. */
  async function recordAllowed(
    agentId: string,
    target: Target,
    { decision, reason }: Verdict,
  ): Promise<void> {
    if ((await policyOf(agentId)).mode !== 'off') record.attempt(agentId, target, { decision, reason })
  }

  const otherHost = (agentId: string, target: Target) => () =>
    record.attempt(agentId, target, { decision: 'denied', reason: 'other_host' })

  /** Whether the TLS server name, which may differ from the CONNECT target, is allowed. */
  async function mayName(agentId: string, target: Target, name: string | null): Promise<boolean> {
    if (name === target.host) return true
    const inside = name === null ? null : parseTarget(`${name}:${target.port}`)
    if (inside && judge(await policyOf(agentId), inside).decision === 'allowed') return true
    otherHost(agentId, target)()
    return false
  }

  const unreachable = (agentId: string, target: Target) => () =>
    record.attempt(agentId, target, { decision: 'denied', reason: 'unreachable' })

  async function tunnel(socket: Duplex, head: Buffer, way: Route & { ok: true }): Promise<void> {
    const { agentId, target, verdict, addresses } = way
    if (verdict.bound.length === 0) {
      const far = await connectTo(target, addresses).catch(() => null)
      if (!far) {
        unreachable(agentId, target)()
        return refuse(socket, 502, `${target.host} does not answer`)
      }
      await recordAllowed(agentId, target, verdict)
      if (socket.destroyed) return void far.destroy()
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      // Only `enforce` needs the server name, and a rule for an address covers every name behind it.
      if ((await policyOf(agentId)).mode !== 'enforce' || isIP(target.host)) return join(socket, far, head)
      return joinNamed(socket, far, head, (name) => mayName(agentId, target, name))
    }
    await recordAllowed(agentId, target, verdict)
    socket.write('HTTP/1.1 200 Connected\r\n\r\n')
    await interceptor.open(socket, head, {
      target,
      addresses,
      bound: async () => boundTo((await policyOf(agentId)).bound, target),
      used: (names) => record.used(agentId, names),
      unreachable: unreachable(agentId, target),
      otherHost: otherHost(agentId, target),
    })
  }

  return {
    async connect(request, socket, head) {
      tunnels.add(socket)
      socket.once('close', () => tunnels.delete(socket))
      socket.on('error', () => socket.destroy())
      try {
        const way = await routeTo(request.headers['proxy-authorization'], parseTarget(request.url ?? ''))
        if (!way.ok) return refuse(socket, way.status, way.words)
        socket.once('close', way.done)
        if (socket.destroyed) return way.done()
        await tunnel(socket, head, way)
      } catch (error) {
        log.warn({ err: error }, 'could not open an outbound connection')
        refuse(socket, 502, 'the platform could not open the connection')
      }
    },

    async handle(request, response) {
      const answer = (status: number, words: string) => {
        const challenge = status === 407 ? { 'proxy-authenticate': 'Basic realm="roost"' } : {}
        response.writeHead(status, { 'content-type': 'text/plain', ...challenge }).end(`Egress: ${words}.\n`)
      }
      try {
        const { target, path } = readAddress(request.url ?? '')
        const way = await routeTo(request.headers['proxy-authorization'], target)
        if (!way.ok) return answer(way.status, way.words)
        response.once('close', way.done)
        if (response.destroyed) return way.done()
        await recordAllowed(way.agentId, way.target, way.verdict)
        // Credentials are never inserted into unencrypted traffic.
        const { addresses } = way
        relay(request, response, {
          target: way.target,
          addresses,
          isTls: false,
          bound: [],
          agent: null,
          path,
          used: () => {},
          unreachable: unreachable(way.agentId, way.target),
        })
      } catch (error) {
        log.warn({ err: error }, 'could not open an outbound connection')
        if (!response.headersSent) answer(502, 'the platform could not open the connection')
      }
    },

    settled: () => record.settled(),

    async close() {
      interceptor.close()
      for (const socket of tunnels) socket.destroy()
      await record.settled()
    },
  }
}

function readAddress(url: string): { target: Target | null; path: string } {
  const [, authority = '', path = ''] = /^http:\/\/([^/?#]*)([^#]*)/i.exec(url) ?? []
  return { target: parseTarget(authority, 80), path: path.startsWith('/') ? path : `/${path}` }
}

/** Clients show little more than the status line. */
function refuse(socket: Duplex, status: number, message: string): void {
  if (socket.destroyed) return
  const line = message.replace(/[^\x20-\x7e]/g, '?').slice(0, 200)
  const challenge = status === 407 ? 'Proxy-Authenticate: Basic realm="roost"\r\n' : ''
  socket.end(
    `HTTP/1.1 ${status} Egress: ${line}\r\n${challenge}Content-Length: 0\r\nConnection: close\r\n\r\n`,
  )
}
