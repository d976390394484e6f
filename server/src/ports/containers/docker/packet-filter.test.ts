import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { type InnerServices, openInnerServices } from '@roost/test-support/network/inner-services'
import type { AgentsNetwork, Containers, FilterRules } from '../port.ts'
import { specOf } from '../test/harness.ts'
import { createDockerContainers } from './docker.ts'
import { filterScript, tableOf } from './filter-rules.ts'
import { openTestEngine, type TestEngine } from './test-engine.ts'

const url = process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:'
const isRoot = process.getuid?.() === 0
const run = promisify(execFile)
const tables = async () => (await run('nft', ['list', 'tables'])).stdout.split('\n')

describe('networks around the machine, from inside a container', { skip: !isRoot && 'needs root' }, () => {
  let engine: TestEngine
  let containers: Containers
  let network: AgentsNetwork
  let inner: InnerServices
  let agent: string
  let closedAgent: string
  let closedNetwork: AgentsNetwork
  const servers: Server[] = []

  before(async () => {
    engine = await openTestEngine(url)
    inner = await openInnerServices()
    containers = install(engine.mark)
    network = await containers.ensureNetwork()
    closedNetwork = await containers.ensureClosedNetwork()
    await inner.routeFrom(await bridgeOf(engine.mark))
    agent = await startContainer(containers)
    closedAgent = await startContainer(containers, true)
  })
  after(async () => {
    for (const server of servers) server.close()
    await inner?.[Symbol.asyncDispose]()
    await engine?.close()
    if (!engine) return
    await createDockerContainers(url, { install: engine.mark, network: engine.mark }).filterNetwork(rules(1))
    assert.ok(!(await tables()).includes(`table inet ${tableOf(engine.mark)}`))
  })

  const install = (mark: string, name = engine.mark) =>
    createDockerContainers(engine.line.url, { install: mark, network: name })
  const rules = (platformPort: number, ...opened: FilterRules['opened']): FilterRules => ({
    platformPorts: [platformPort],
    platformHosts: [],
    opened,
  })
  const opened = (text: string, port: number | null = null) => {
    const [address = '', prefix = '32'] = text.split('/')
    return { address, prefix: Number(prefix), port }
  }

  async function bridgeOf(name: string): Promise<string> {
    const { Id } = await engine.docker.getNetwork(name).inspect()
    return `br-${Id.slice(0, 12)}`
  }

  async function startContainer(owner: Containers, isClosed = false): Promise<string> {
    const env = { ROOST_TEST_SCRIPT: 'while :; do sleep 3600; done' }
    const { id } = await owner.create(specOf(engine.image, 'stay', { env, isClosed }))
    await owner.start(id)
    return id
  }

  async function output(id: string, command: string): Promise<string> {
    const exec = await engine.docker
      .getContainer(id)
      .exec({ Cmd: ['sh', '-c', `${command} 2>&1`], AttachStdout: true, Tty: true })
    const stream = await exec.start({ Tty: true })
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    return text.trim()
  }
  const nameOf = async (id: string) => (await engine.docker.getContainer(id).inspect()).Name.slice(1)
  const reaches = async (id: string, host: string, port: number) =>
    (await output(id, `nc -w 3 ${host} ${port} </dev/null`)).includes('hello')

  async function listen(host: string): Promise<number> {
    const server = createServer((socket) => socket.on('error', () => {}).end('hello from the host'))
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, host, resolve))
    const address = server.address()
    return typeof address === 'object' && address ? address.port : 0
  }

  /** What agents must not reach: each is really there, as the state before the filter shows. */
  const targets = (everywhere: number): [string, number][] => [
    [inner.privateAddress, inner.port],
    [inner.metadataAddress, inner.port],
    [inner.ownAddress, everywhere],
    [network.platformUrlHost, everywhere],
    [closedNetwork.platformUrlHost, everywhere],
  ]

  test('closed by default, opened by name, closed again; the platform and names stay reachable', async () => {
    const everywhere = await listen('0.0.0.0')
    const platformPort = await listen(network.platformUrlHost)
    for (const [host, port] of targets(everywhere)) {
      assert.equal(await reaches(agent, host, port), true, `without a filter: ${host}`)
    }
    assert.equal(containers.networkFilter.isActive, false)

    const allClosed = async () => {
      assert.deepEqual(containers.networkFilter, { isActive: true, problem: null })
      for (const [host, port] of targets(everywhere)) {
        assert.equal(await reaches(agent, host, port), false, host)
      }
      assert.equal(await reaches(agent, network.platformUrlHost, platformPort), true, 'the platform')
    }
    await containers.filterNetwork(rules(platformPort))
    await allClosed()
    assert.match(await output(agent, `nslookup ${await nameOf(agent)} 127.0.0.11`), /Address.*: 1\d+\./)

    await containers.filterNetwork(rules(platformPort, opened(inner.privateAddress, inner.port)))
    assert.equal(await reaches(agent, inner.privateAddress, inner.port), true)
    assert.equal(await reaches(agent, inner.privateAddress, inner.otherPort), false)
    assert.equal(await reaches(agent, inner.metadataAddress, inner.port), false)

    await containers.filterNetwork(rules(platformPort, opened(inner.network)))
    assert.equal(await reaches(agent, inner.privateAddress, inner.otherPort), true)
    assert.equal(await reaches(agent, inner.ownAddress, everywhere), false, 'an address of this machine')
    await containers.filterNetwork(rules(platformPort, opened(inner.ownAddress, everywhere)))
    assert.equal(await reaches(agent, inner.ownAddress, everywhere), true, 'named as an address')

    await containers.filterNetwork(rules(platformPort))
    await allClosed()
  })

  test('rules that a firewall dropped come back', async () => {
    const platformPort = await listen(network.platformUrlHost)
    const table = tableOf(engine.mark)
    await containers.filterNetwork(rules(platformPort))
    await run('nft', ['delete', 'table', 'inet', table])
    assert.equal(await reaches(agent, inner.privateAddress, inner.port), true)
    await containers.filterNetwork(rules(platformPort))
    assert.equal(await reaches(agent, inner.privateAddress, inner.port), false)
  })

  test('the engine resolves names through a name server in a private network only with its rule', async () => {
    const asking = await engine.docker.createContainer({
      Image: engine.image,
      Labels: { 'roost.install': engine.mark },
      Env: ['ROOST_TEST_SCRIPT=while :; do sleep 3600; done'],
      HostConfig: { NetworkMode: engine.mark, Dns: [inner.privateAddress] },
    })
    await asking.start()
    const bridge = { name: await bridgeOf(engine.mark), gateway: network.platformUrlHost, isClosed: false }
    const resolves = async (name: string, nameServers: readonly string[]) => {
      const applied = run('nft', ['-f', '-'])
      applied.child.stdin?.end(
        filterScript(tableOf(engine.mark), [bridge], { ...rules(1), platforms: [] }, nameServers),
      )
      await applied
      return (await output(asking.id, `nslookup ${name} 127.0.0.11`)).includes(inner.resolvedAddress)
    }
    assert.equal(await resolves('one.example.test', []), false)
    assert.equal(await resolves('two.example.test', [inner.privateAddress]), true)
    assert.equal(await reaches(asking.id, inner.privateAddress, inner.port), false, 'its other ports')
    await asking.remove({ force: true })
  })

  test('a closed container reaches the platform, and no listener of the host on all addresses', async () => {
    const everywhere = await listen('0.0.0.0')
    const platformPort = await listen(closedNetwork.platformUrlHost)
    await run('nft', ['delete', 'table', 'inet', tableOf(engine.mark)])
    assert.equal(await reaches(closedAgent, closedNetwork.platformUrlHost, everywhere), true, 'without')
    const addresses = [closedNetwork.platformUrlHost, network.platformUrlHost, inner.ownAddress]
    await containers.filterNetwork(rules(platformPort, ...addresses.map((each) => opened(each))))
    assert.equal(await reaches(closedAgent, closedNetwork.platformUrlHost, platformPort), true)
    for (const host of addresses) assert.equal(await reaches(closedAgent, host, everywhere), false, host)
    assert.ok(!containers.closing.notes.join().includes('listen on all addresses'))
  })

  test('two installations have networks and rules of their own', async () => {
    const mark = `${engine.mark}-b`
    const other = install(mark)
    const platformPort = await listen(network.platformUrlHost)
    await containers.filterNetwork(rules(platformPort))
    const theirs = await other.ensureNetwork()
    try {
      assert.notEqual(theirs.platformUrlHost, network.platformUrlHost)
      const theirPort = await listen(theirs.platformUrlHost)
      await other.filterNetwork(rules(theirPort, opened(inner.privateAddress)))
      const neighbour = await startContainer(other)
      assert.equal(await reaches(neighbour, theirs.platformUrlHost, theirPort), true)
      assert.equal(await reaches(neighbour, inner.privateAddress, inner.port), true)
      assert.equal(await reaches(neighbour, network.platformUrlHost, platformPort), false)
      assert.equal(await reaches(agent, inner.privateAddress, inner.port), false)
      await other.remove(neighbour)
    } finally {
      for (const { id } of await other.list()) await other.remove(id)
      const filters = JSON.stringify({ label: [`roost.install=${mark}`] })
      for (const { Id } of await engine.docker.listNetworks({ filters }))
        await engine.docker.getNetwork(Id).remove()
      await other.filterNetwork(rules(1))
    }
    const left = await tables()
    assert.ok(!left.includes(`table inet ${tableOf(mark)}`), 'removed with the last network')
    assert.ok(left.includes(`table inet ${tableOf(engine.mark)}`), 'the other one stays')
    assert.equal(await reaches(agent, inner.privateAddress, inner.port), false)
  })

  test('agents from before an update keep their address until their next start, and are reported', async () => {
    const [mark, shared] = [`${engine.mark}-c`, `${engine.mark}-shared`]
    const created = await engine.docker.createNetwork({
      Name: shared,
      Labels: { 'roost.install': engine.mark },
      Options: { 'com.docker.network.bridge.enable_icc': 'false' },
    })
    const late = install(mark, shared)
    const former = await engine.docker.createContainer({
      Image: engine.image,
      Labels: { 'roost.install': mark },
      Env: ['ROOST_TEST_SCRIPT=while :; do sleep 3600; done'],
      HostConfig: { NetworkMode: shared },
    })
    try {
      await former.start()
      const { IPAM } = await created.inspect()
      const first = await late.ensureNetwork()
      assert.deepEqual(first.formerAddresses, [IPAM?.Config?.[0]?.Gateway])
      await late.filterNetwork(rules(1))
      assert.equal(late.networkFilter.isActive, false)
      assert.match(String(late.networkFilter.problem), /some still use the network of another installation/)

      await former.remove({ force: true })
      await created.remove()
      const second = await late.ensureNetwork()
      assert.deepEqual(second, { ...first, formerAddresses: [] }, 'its own network stays')
      await late.filterNetwork(rules(1))
      assert.deepEqual(late.networkFilter, { isActive: true, problem: null })
    } finally {
      await former.remove({ force: true }).catch(() => {})
      await created.remove().catch(() => {})
      const filters = JSON.stringify({ label: [`roost.install=${mark}`] })
      for (const { Id } of await engine.docker.listNetworks({ filters }))
        await engine.docker.getNetwork(Id).remove()
      await late.filterNetwork(rules(1))
    }
    assert.ok(!(await tables()).includes(`table inet ${tableOf(mark)}`))
  })

  test('a network with running containers of another installation is left alone, and the problem is named', async () => {
    const platformPort = await listen(network.platformUrlHost)
    await containers.filterNetwork(rules(platformPort))
    const guest = await engine.docker.createContainer({
      Image: engine.image,
      Labels: { 'roost.install': 'another' },
      Env: ['ROOST_TEST_SCRIPT=while :; do sleep 3600; done'],
      HostConfig: { NetworkMode: engine.mark },
    })
    try {
      await containers.filterNetwork(rules(platformPort))
      assert.deepEqual(containers.networkFilter, { isActive: true, problem: null }, 'it does not run')
      await guest.start()
      await containers.filterNetwork(rules(platformPort))
      assert.equal(containers.networkFilter.isActive, false)
      assert.match(String(containers.networkFilter.problem), /containers of another installation/)
      assert.match(containers.isolation.weaker.join(), /containers of another installation/)
      assert.ok(!(await tables()).includes(`table inet ${tableOf(engine.mark)}`))
    } finally {
      await guest.remove({ force: true })
    }
    await containers.filterNetwork(rules(platformPort))
    assert.deepEqual(containers.networkFilter, { isActive: true, problem: null })
    assert.deepEqual(containers.isolation.weaker, [])
  })

  test('a user of the group docker gets the reason and the remedy; one capability is enough', async () => {
    const socket = '/var/run/docker.sock'
    const { gid } = await stat(socket)
    const program = `
      import { createDockerContainers } from ${JSON.stringify(import.meta.resolve('./docker.ts'))}
      const own = { install: ${JSON.stringify(engine.mark)}, network: ${JSON.stringify(engine.mark)} }
      const containers = createDockerContainers('docker://${socket}', own)
      await containers.filterNetwork({ platformPorts: [1], platformHosts: [], opened: [] })
      console.log(JSON.stringify([containers.networkFilter, containers.isolation.weaker, containers.closing.notes]))
    `
    const asUser = async (...more: string[]) => {
      const user = ['--reuid=61234', `--regid=${gid}`, '--clear-groups', ...more]
      const node = [process.execPath, '--input-type=module', '-e', program]
      return JSON.parse((await run('setpriv', [...user, ...node])).stdout)
    }
    const [filter, weaker, notes] = await asUser()
    assert.equal(filter.isActive, false)
    assert.match(
      filter.problem,
      /^Agents reach private networks, .* may not change the packet filter\. Run it as/,
    )
    assert.deepEqual(weaker, [filter.problem])
    assert.match(notes.join(), /listen on all addresses/)
    const [withCapability] = await asUser('--inh-caps=+net_admin', '--ambient-caps=+net_admin')
    assert.deepEqual(withCapability, { isActive: true, problem: null })
  })
})
