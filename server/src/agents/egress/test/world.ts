import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Located } from '../../../kit/addresses.ts'
import type { OpenTestDb } from '../../../test/dialects.ts'
import { pretendCredentials } from '../../test/pretend-credentials.ts'
import { openAgents } from '../../test/world.ts'
import { createProgram, serveProxy, startOutside } from './outside.ts'

/** Value of the credential that tests bind. */
export const value = 'real-value-canary-77'

/** Opens an agent with a program that uses the proxy; every external host is this machine. */
export async function openEgress(db: OpenTestDb, locate?: (host: string, port: number) => Promise<Located>) {
  const lookups: string[] = []
  const world = await openAgents(await db(), {
    locate: async (host, port) => {
      lookups.push(host)
      return locate ? locate(host, port) : { ok: true, addresses: ['127.0.0.1'] }
    },
  })
  // Certificate checks use the real clock of the machine.
  world.clock.set(new Date())
  const account = await world.identity.addUser('creator', 'owner')
  const { access_token } = await world.identity.sessions.issue(account, { mode: 'email' })
  assert.equal((await world.request(access_token, 'POST', '/api/agents', { name: 'helper' })).status, 200)
  const agent = await world.row('helper')
  const files = new Map<string, Buffer>()
  world.link.link(agent.id, { ...pretendCredentials(files), settings: () => ({ ok: true }) })
  const outside = await startOutside(['api.test', 'other.test'], (received) => {
    const headers = { 'x-seen': received.headers.authorization ?? 'none' }
    const body = JSON.stringify(received)
    if (received.url === '/odd') return { headers: { ...headers, 'content-encoding': 'odd' }, body }
    if (received.url !== '/gzip') return { headers, body }
    return { headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync(body) }
  })
  const listener = await serveProxy(world.area.egress)
  const call = (method: string, path: string, body?: unknown) =>
    world.request(access_token, method, `/api/agents/helper/egress${path}`, body)
  const proxySettings = async () => (await world.area.runContexts.settings(agent.id))?.way_out ?? null
  return {
    ...world,
    agent,
    files,
    outside,
    lookups,
    call,
    session: access_token,
    wayOut: proxySettings,
    bind: (more: object = {}) =>
      call('PUT', '/credentials/TOKEN', { hosts: [`api.test:${outside.port}`], value, ...more }),
    /** The agent's log, as `host decision reason count`. */
    async entries() {
      await world.area.egress.settled()
      const { json } = await call('GET', '/log')
      // biome-ignore lint/suspicious/noExplicitAny: the server checks the response's schema
      return json.map((row: any) => `${row.host} ${row.decision} ${row.reason} ${row.count}`).sort()
    },
    async program(trusts: 'roost' | 'world' | 'both' = 'both') {
      const way = await proxySettings()
      assert.ok(way, 'the agent uses the proxy')
      const ours = way.authority === null || trusts === 'world' ? [] : [way.authority]
      return createProgram({
        port: listener.port,
        user: way.user,
        ticket: way.ticket,
        trusts: [...ours, ...(trusts === 'roost' ? [] : [outside.certificate])],
      })
    },
    listener,
    async [Symbol.asyncDispose]() {
      listener[Symbol.dispose]()
      await world[Symbol.asyncDispose]()
      await outside[Symbol.asyncDispose]()
    },
  }
}

export type EgressWorld = Awaited<ReturnType<typeof openEgress>>

/** Collects what a socket receives. */
export function receivedFrom(socket: NodeJS.ReadableStream) {
  let text = ''
  const waits = new Set<() => void>()
  socket.on('data', (chunk) => {
    text += chunk
    for (const look of waits) look()
  })
  return {
    until: (matches: (text: string) => boolean) =>
      new Promise<string>((resolve) => {
        const check = () => {
          if (!matches(text)) return
          waits.delete(check)
          resolve(text)
        }
        waits.add(check)
        check()
      }),
  }
}

/** Sends CONNECT with this target. */
export async function connectRaw(it: EgressWorld, target: string) {
  const way = await it.wayOut()
  assert.ok(way)
  const authorization = `Basic ${Buffer.from(`${way.user}:${way.ticket}`).toString('base64')}`
  const sent = request({
    host: '127.0.0.1',
    port: it.listener.port,
    method: 'CONNECT',
    path: target === '' ? '/' : target,
    headers: { 'proxy-authorization': authorization },
  }).end()
  const [reply, socket] = await once(sent, 'connect')
  socket.destroy()
  return { status: reply.statusCode as number }
}
