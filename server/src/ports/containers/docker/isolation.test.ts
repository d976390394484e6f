import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import type { AgentsNetwork, ContainerSpec, Containers } from '../port.ts'
import { hasFault, specOf, until } from '../test/harness.ts'
import { createDockerContainers } from './docker.ts'
import { openTestEngine, type TestEngine } from './test-engine.ts'

const url = process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:'

/** Answers hello to every connection on ports 22 and 8080. */
const listen = 'for p in 22 8080; do while :; do echo hello | nc -l -p $p; done & done; echo ready; wait'

describe('what a container of a Docker engine may and may not', () => {
  let engine: TestEngine
  let containers: Containers
  let network: AgentsNetwork

  before(async () => {
    engine = await openTestEngine(url)
    containers = createDockerContainers(engine.line.url, { install: engine.mark, network: engine.mark })
    network = await containers.ensureNetwork()
  })
  afterEach(async () => {
    for (const { id } of await containers.list()) await containers.remove(id)
    for (const name of await containers.listVolumes()) await containers.removeVolume(name)
  })
  after(async () => {
    await engine?.close()
  })

  async function run(script: string, more: Partial<ContainerSpec> = {}): Promise<string> {
    const { id } = await containers.create(
      specOf(engine.image, 'stay', { ...more, env: { ROOST_TEST_SCRIPT: script } }),
    )
    await containers.start(id)
    await until(async () => (await containers.logs(id, 1000)).includes('ready'))
    return id
  }

  /** Runs a script in a new container and returns its output. */
  async function outputOf(script: string, more: Partial<ContainerSpec> = {}): Promise<string> {
    const id = await run(`${script}; echo ready; while :; do sleep 3600; done`, more)
    return containers.logs(id, 1000)
  }

  async function addressOf(id: string): Promise<string> {
    const { NetworkSettings } = await engine.docker.getContainer(id).inspect()
    return NetworkSettings.Networks[engine.mark]?.IPAddress ?? ''
  }

  /** Returns a port on loopback that is free at the moment. */
  async function freePort(): Promise<number> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    await new Promise((resolve) => server.close(resolve))
    return typeof address === 'object' && address ? address.port : 0
  }

  async function hearFrom(host: string, port: number): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect({ host, port, timeout: 3000 })
      socket.once('data', (data) => {
        resolve(data.toString())
        socket.destroy()
      })
      socket.once('error', (error) => resolve(`error: ${error.message}`))
      socket.once('timeout', () => socket.destroy(new Error('timeout')))
      // The engine's proxy accepts the connection and closes it while nothing listens inside.
      socket.once('close', () => resolve('closed'))
    })
  }

  test('a closed container reaches the platform but has no published port and no name server', async () => {
    const closed = await containers.ensureClosedNetwork()
    const platform = createServer((socket) => socket.end('hello from the platform'))
    await new Promise<void>((resolve) => platform.listen(0, closed.platformUrlHost, resolve))
    try {
      const at = platform.address()
      const port = await freePort()
      const script = `nc ${closed.platformUrlHost} ${typeof at === 'object' ? at?.port : ''} < /dev/null; cat /etc/resolv.conf`
      const id = await run(`${script}; echo ready; while :; do sleep 3600; done`, {
        isClosed: true,
        ssh: { bind: '127.0.0.1', port },
      })
      assert.match(await containers.logs(id, 1000), /hello from the platform/)
      const info = await engine.docker.getContainer(id).inspect()
      assert.deepEqual(Object.keys(info.NetworkSettings.Networks), [`${engine.mark}-closed`])
      assert.deepEqual(info.HostConfig.Dns, ['127.0.0.1'])
      assert.deepEqual(info.HostConfig.PortBindings ?? {}, {})
      const [network] = await engine.docker.listNetworks({
        filters: JSON.stringify({ name: [`${engine.mark}-closed`] }),
      })
      assert.equal(network?.Internal, true)
    } finally {
      platform.close()
    }
  })

  test("no agent reaches another agent's port, directly or through the host", async () => {
    const port = await freePort()
    const other = await run(listen, { ssh: { bind: '127.0.0.1', port } })
    const address = await addressOf(other)
    const gateway = network.platformUrlHost
    assert.match(address, /^\d+\.\d+\.\d+\.\d+$/)
    // The listener answers on the published port, so the silence below is caused by the network.
    await until(async () => (await hearFrom('127.0.0.1', port)).startsWith('hello'))
    const tries = [
      `${address} 22`,
      `${address} 8080`,
      `${gateway} ${port}`,
      `${gateway} 22`,
      `172.17.0.1 ${port}`,
      `${address.replace(/\d+$/, '255')} 8080`,
    ]
    const output = await outputOf(
      tries
        .map((target) => `echo "${target}: $(nc -w 2 ${target} </dev/null 2>/dev/null || echo unreachable)"`)
        .join('; '),
    )
    assert.deepEqual(output.trimEnd().split('\n'), [
      ...tries.map((target) => `${target}: unreachable`),
      'ready',
    ])
  })

  test('agents have no IPv6 address that would bypass the rules', async () => {
    const output = await outputOf('cat /proc/net/if_inet6 2>/dev/null | grep -v " lo$"')
    assert.equal(output.trim(), 'ready')
  })

  test('an agent reaches the platform on the gateway but not on loopback', async () => {
    assert.equal(network.hostAddress.type, 'tcp')
    const address = network.hostAddress.type === 'tcp' ? network.hostAddress.address : ''
    const greet = createServer((socket) => socket.end('welcome home\n').on('error', () => {}))
    const hidden = createServer((socket) => socket.end('secret\n').on('error', () => {}))
    await new Promise<void>((resolve) => greet.listen(0, address, resolve))
    await new Promise<void>((resolve) => hidden.listen(0, '127.0.0.1', resolve))
    const portOf = (server: typeof greet) => (server.address() as { port: number }).port
    try {
      const output = await outputOf(
        `nc -w 2 ${network.platformUrlHost} ${portOf(greet)} </dev/null; nc -w 2 ${network.platformUrlHost} ${portOf(hidden)} </dev/null`,
      )
      assert.match(output, /welcome home/)
      assert.doesNotMatch(output, /secret/)
    } finally {
      greet.close()
      hidden.close()
    }
  })

  test('the default route leads to the gateway', async () => {
    // Checks routes only, because connections depend on the network around the host.
    assert.match(
      await outputOf('ip route'),
      new RegExp(`default via ${network.platformUrlHost.replaceAll('.', '\\.')}`),
    )
    const { Internal } = await engine.docker.getNetwork(engine.mark).inspect()
    assert.equal(Internal, false)
  })

  test('installations that start at the same moment get networks of their own', async () => {
    const [shared, marks] = [
      `${engine.mark}-race`,
      ['a', 'b', 'c', 'd'].map((each) => `${engine.mark}-${each}`),
    ]
    const filters = (mark: string) => JSON.stringify({ label: [`roost.install=${mark}`] })
    const networksOf = (mark: string) => engine.docker.listNetworks({ filters: filters(mark) })
    try {
      // All have ended before the networks are removed, even if one fails.
      const found = await Promise.allSettled(
        marks.map((install) => createDockerContainers(url, { install, network: shared }).ensureNetwork()),
      )
      for (const [index, mark] of marks.entries()) {
        const each = found[index]
        if (each?.status !== 'fulfilled') throw each?.reason
        const gateways = (await networksOf(mark)).map(({ IPAM }) => IPAM?.Config?.[0]?.Gateway)
        assert.deepEqual(gateways, [each.value.platformUrlHost])
      }
    } finally {
      for (const mark of marks)
        for (const { Id } of await networksOf(mark)) await engine.docker.getNetwork(Id).remove()
    }
  })

  test('a network of the same name that connects its containers is refused', async () => {
    const name = `${engine.mark}-open`
    const open = await engine.docker.createNetwork({ Name: name, Labels: { 'roost.install': engine.mark } })
    try {
      const trusting = createDockerContainers(url, { install: engine.mark, network: name })
      await assert.rejects(trusting.ensureNetwork(), hasFault('engine_fault'))
    } finally {
      await open.remove()
    }
  })

  test('a used port is port_taken, and is free again after its container is removed', async () => {
    const port = await freePort()
    const first = await run(listen, { ssh: { bind: '127.0.0.1', port } })
    const second = await containers.create(specOf(engine.image, 'stay', { ssh: { bind: '127.0.0.1', port } }))
    await assert.rejects(containers.start(second.id), hasFault('port_taken'))
    await containers.remove(first)
    await containers.start(second.id)
  })

  test('privileges inside match the contract', async () => {
    const facts = 'grep -E "^(CapBnd|NoNewPrivs|Seccomp):" /proc/self/status'
    // CHOWN 0, SETGID 6, SETUID 7, NET_BIND_SERVICE 10, SYS_CHROOT 18, AUDIT_WRITE 29.
    const usual = (1n << 0n) | (1n << 6n) | (1n << 7n) | (1n << 10n) | (1n << 18n) | (1n << 29n)
    // DAC_OVERRIDE 1, FOWNER 3, KILL 5.
    const full = usual | (1n << 1n) | (1n << 3n) | (1n << 5n)
    const output = await outputOf(facts)
    assert.equal(BigInt(`0x${/CapBnd:\s*(\w+)/.exec(output)?.[1]}`), usual)
    assert.match(output, /NoNewPrivs:\s*1/)
    assert.match(output, /Seccomp:\s*2/)
    const saidFull = await outputOf(facts, { fullCapabilities: true })
    assert.equal(BigInt(`0x${/CapBnd:\s*(\w+)/.exec(saidFull)?.[1]}`), full)
    assert.match(saidFull, /NoNewPrivs:\s*0/)
  })

  test('inside, /tmp is small and noexec', async () => {
    const output = await outputOf(
      'mount | grep " /tmp "; cp /bin/busybox /tmp/x; /tmp/x true || echo refused',
    )
    assert.match(output, /tmpfs.*noexec/)
    assert.match(output, /nosuid/)
    assert.match(output, /size=16384k/)
    assert.match(output, /refused/)
  })

  test('limits, restart policy and log limits match the contract', async () => {
    const id = await run('echo ready; sleep 3600', {
      cpus: 64,
      maxProcesses: 2048,
      memoryBytes: 128 * 2 ** 20,
    })
    const { HostConfig } = await engine.docker.getContainer(id).inspect()
    const { cpus } = await containers.ping()
    assert.equal(HostConfig.NanoCpus, cpus * 1e9)
    assert.equal(HostConfig.PidsLimit, 2048)
    assert.equal(HostConfig.Memory, 128 * 2 ** 20)
    assert.equal(HostConfig.MemorySwap, 128 * 2 ** 20)
    assert.deepEqual(HostConfig.LogConfig, {
      Type: 'json-file',
      Config: { 'max-file': '3', 'max-size': '10m' },
    })
    assert.equal(HostConfig.RestartPolicy?.Name, 'unless-stopped')
    assert.equal(HostConfig.Privileged, false)
  })

  test('no request URL contains the environment of a container', async () => {
    engine.line.requests.length = 0
    await containers.create(specOf(engine.image, 'stay', { env: { ROOST_AGENT_KEY: 'k-1234567890' } }))
    assert.ok(engine.line.requests.some((line) => line.startsWith('POST /containers/create?name=')))
    assert.ok(engine.line.requests.every((line) => !line.includes('k-1234567890')))
  })

  test('a foreign volume is neither used nor removed', async () => {
    const name = `${engine.mark}-foreign`
    await engine.docker.createVolume({ Name: name, Labels: { 'roost.install': 'somebody-else' } })
    try {
      await assert.rejects(containers.createVolume(name, {}), hasFault('name_taken'))
      const mounts: ContainerSpec['mounts'] = [{ type: 'volume', volume: name, target: '/home/developer' }]
      await assert.rejects(
        containers.create(specOf(engine.image, 'stay', { mounts })),
        hasFault('name_taken'),
      )
      await containers.removeVolume(name)
      assert.equal((await engine.docker.getVolume(name).inspect()).Name, name)
    } finally {
      await engine.docker.getVolume(name).remove()
    }
  })

  test('sampling a known container makes no request to the engine', async () => {
    const id = await run('echo ready; sleep 3600')
    await containers.sample(id)
    engine.line.requests.length = 0
    for (let times = 0; times < 10; times += 1) assert.ok(await containers.sample(id))
    assert.deepEqual(engine.line.requests, [])
  })

  test('figures of the kernel and of the engine agree', async () => {
    const id = await run('echo ready; sleep 3600')
    const sample = await containers.sample(id)
    const stats = await engine.docker.getContainer(id).stats({ stream: false, 'one-shot': true })
    assert.equal(sample?.memoryLimitBytes, stats.memory_stats.limit)
    assert.ok(Math.abs((sample?.memoryUsedBytes ?? 0) - stats.memory_stats.usage) < 4 * 2 ** 20)
    assert.ok((sample?.networkRxBytes ?? -1) >= 0 && (sample?.networkTxBytes ?? -1) >= 0)
  })
})
