/** An agent that looks around: metadata services, private networks, and what its machine offers. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { type InnerServices, openInnerServices } from '@roost/test-support/network/inner-services'
import { filterTableOf } from '../acceptance/agents-networks.ts'
import { answerOf, docker, gatewayOf } from '../acceptance/steps.ts'
import { openScene, type Scene, succeed } from './people.ts'

const agent = 'att-network'
const isRoot = process.getuid?.() === 0
const only = { skip: !isRoot && 'needs root, for a network namespace' }
const run = promisify(execFile)
const setting = '/api/settings/agent-defaults/network'
let scene: Scene
let inner: InnerServices
let onAllAddresses: { server: Server; port: number }

before(async () => {
  if (!isRoot) return
  inner = await openInnerServices()
  const server = createServer((socket) => socket.on('error', () => {}).end('hello from the host'))
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  onAllAddresses = { server, port: (server.address() as AddressInfo).port }
  scene = await openScene(agent)
  await inner.routeFrom(await bridge())
})
after(async () => {
  if (!isRoot) return
  onAllAddresses?.server.close()
  await inner?.[Symbol.asyncDispose]()
  const table = scene && (await filterTableOf(scene.platform.dataDir))
  await scene?.[Symbol.asyncDispose]()
  const { stdout } = await run('nft', ['list', 'tables'])
  assert.ok(!stdout.split('\n').includes(`table inet ${table}`), stdout)
})

async function bridge(): Promise<string> {
  const format = '{{range .NetworkSettings.Networks}}{{.NetworkID}}{{end}}'
  return `br-${(await docker('inspect', '-f', format, `agent-${agent}`)).slice(0, 12)}`
}

const attempt = (host: string, port: number) =>
  `timeout 4 bash -c "head -c 5 </dev/tcp/${host}/${port}" 2>/dev/null || echo refused`
const reaches = async (host: string, port: number) =>
  (await docker('exec', '-u', 'developer', `agent-${agent}`, 'bash', '-c', attempt(host, port))) === 'hello'
const open = (...opened: string[]) => succeed(scene.platform.request('PUT', setting, { opened }))

async function targets(): Promise<[string, number][]> {
  return [
    [inner.metadataAddress, inner.port],
    [inner.privateAddress, inner.port],
    [inner.ownAddress, onAllAddresses.port],
    [await gatewayOf(agent), onAllAddresses.port],
  ]
}

test('a turn reaches no metadata service, private network or listener of the host', only, async () => {
  const reached: string[] = []
  for (const [host, port] of await targets()) {
    const answer = await answerOf(scene.platform, agent, `[[tool:Bash:${attempt(host, port)}]]`)
    if (answer.includes('hello')) reached.push(`${host}:${port}`)
  }
  assert.deepEqual(reached, [])
  const view = await succeed(scene.platform.request('GET', setting))
  assert.deepEqual(view, { opened: [], is_closed: true, problem: null })
})

test('nobody but an admin opens an address', only, async () => {
  const opened = [inner.privateAddress]
  for (const attacker of [scene.self, scene.sharer, scene.caller]) {
    const { status } = await scene.platform.request('PUT', setting, { opened }, { token: attacker.token })
    assert.equal(status, 403, attacker.name)
  }
  assert.equal(await reaches(inner.privateAddress, inner.port), false)
})

test('an opened address is reachable without a restart, and closed again', only, async () => {
  const bad = await scene.platform.request('PUT', setting, { opened: ['10.0.0.1', 'example.com'] })
  assert.equal(bad.status, 422)
  assert.match(bad.text, /opened.*1.*must be an address or a network/s)

  const before = await docker('inspect', '-f', '{{.State.StartedAt}}', `agent-${agent}`)
  await open(`${inner.privateAddress}:${inner.port}`)
  assert.equal(await reaches(inner.privateAddress, inner.port), true)
  assert.equal(await reaches(inner.privateAddress, inner.otherPort), false)
  assert.equal(await reaches(inner.metadataAddress, inner.port), false)
  await open(inner.network)
  assert.equal(await reaches(inner.privateAddress, inner.otherPort), true)
  assert.equal(await reaches(inner.ownAddress, onAllAddresses.port), false)
  await open()
  for (const [host, port] of await targets()) assert.equal(await reaches(host, port), false, host)
  assert.equal(await docker('inspect', '-f', '{{.State.StartedAt}}', `agent-${agent}`), before)

  const entries = await succeed(scene.platform.request('GET', '/api/audit-log?limit=50'))
  assert.match(JSON.stringify(entries), /put_inner_networks/)
})

test('what the platform knows about the filter is in agent details', only, async () => {
  const details = await succeed(scene.call(scene.owner, 'GET', ''))
  assert.doesNotMatch(JSON.stringify(details.isolation), /private networks/)
  const { network } = await succeed(scene.call(scene.owner, 'GET', '/egress'))
  assert.doesNotMatch(JSON.stringify(network.notes), /listen on all addresses/)
})

test('in enforce mode not even opened listeners of the host answer; the platform does', only, async () => {
  await succeed(scene.call(scene.owner, 'PUT', '/egress', { mode: 'enforce' }))
  for (const step of ['stop', 'start']) await succeed(scene.call(scene.owner, 'POST', `/${step}`))
  const reachedNow = async () => {
    const reached: string[] = []
    for (const [host, port] of await targets()) if (await reaches(host, port)) reached.push(host)
    return reached
  }
  assert.deepEqual(await reachedNow(), [])
  await open(await gatewayOf(agent), inner.ownAddress, inner.privateAddress)
  assert.deepEqual(await reachedNow(), [])
  assert.match(await answerOf(scene.platform, agent, '[[tool:Bash:echo still here]]'), /still here/)
})
