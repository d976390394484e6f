/** The control listener: the platform's own processes on other machines, and nothing for agents. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { after, before, test } from 'node:test'
import { internalSecret, openWorld, type World } from './world.ts'

let world: World
/** An address of this machine that is not loopback, as another machine has. */
let host: string

before(async () => {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  host = all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? assert.fail()
  world = await openWorld()
})
after(() => world?.[Symbol.asyncDispose]())

type Options = { method?: string; path: string; token?: string; headers?: Record<string, string> }

async function statusOf({ method = 'GET', path, token, headers = {} }: Options): Promise<number> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const outgoing = request({
    ...{ host, port: world.controlPort, localAddress: host, agent: false },
    ...{ method, path, headers: { ...authorization, ...headers } },
  })
  outgoing.end()
  const [reply] = await Promise.race([once(outgoing, 'response'), once(outgoing, 'connect')])
  reply.destroy()
  return reply.statusCode
}

test('200 for the internal secret from another address, which the internal listener hides', async () => {
  for (const path of ['/api/internal/health', '/metrics', '/api/internal/mcp-exposed-agents'])
    assert.equal(await statusOf({ path, token: internalSecret }), 200, path)
})

test('401 without the secret, and with an agent’s key', async () => {
  const agentId = await world.makeAgent(world.admin, 'controlled')
  const key = await world.plantKey('agent', await world.idOf(world.admin), agentId)
  for (const token of [undefined, 'x'.repeat(43), key])
    for (const path of ['/api/internal/health', '/metrics', '/api/internal/mcp-exposed-agents'])
      assert.ok([401, 403].includes(await statusOf({ path, ...(token ? { token } : {}) })), path)
})

test('404 for everything that agents use: link, broker, git, MCP, outbound requests', async () => {
  const paths = [
    '/link',
    '/broker/anthropic/v1/messages',
    '/git/acme/app.git/info/refs',
    '/mcp',
    '/api/agents',
  ]
  for (const path of [...paths, 'http://169.254.169.254/latest/meta-data'])
    assert.equal(await statusOf({ path, token: internalSecret }), 404, path)
  const connect = statusOf({ method: 'CONNECT', path: 'example.org:443', token: internalSecret })
  await assert.rejects(connect, { code: 'ECONNRESET' })
})

test('403 for a foreign host name and for a web page; the configured name is its own', async () => {
  const status = (headers: Record<string, string>) =>
    statusOf({ path: '/metrics', token: internalSecret, headers })
  assert.equal(await status({ host: 'evil.example' }), 403)
  assert.equal(await status({ origin: 'https://evil.example' }), 403)
  assert.equal(await status({ host: `roost-control:${world.controlPort}` }), 200)
})
