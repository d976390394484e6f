import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import type { AgentsNetwork, ContainerSpec, Containers } from '../port.ts'
import { hasFault, specOf, until } from '../suite.ts'
import { createDockerContainers } from './docker.ts'
import { openTestEngine, type TestEngine } from './test-engine.ts'

const url = process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:'

/** Says hello to whoever connects to port 22 or 8080, over and over. */
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

  /** Runs a script in a fresh container and answers what it said. */
  async function sayOf(script: string, more: Partial<ContainerSpec> = {}): Promise<string> {
    const id = await run(`${script}; echo ready; while :; do sleep 3600; done`, more)
    return containers.logs(id, 1000)
  }

  async function addressOf(id: string): Promise<string> {
    const { NetworkSettings } = await engine.docker.getContainer(id).inspect()
    return NetworkSettings.Networks[engine.mark]?.IPAddress ?? ''
  }

  /** A free port on loopback, as free as it can be said to be before somebody takes it. */
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
      // The engine's proxy takes the connection and closes it again while nobody listens inside.
      socket.once('close', () => resolve('closed'))
    })
  }

  test('a closed container reaches the platform, has no port published and nobody to ask for names', async () => {
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

  test('no agent reaches a port of another, neither straight nor over the host', async () => {
    const port = await freePort()
    const other = await run(listen, { ssh: { bind: '127.0.0.1', port } })
    const address = await addressOf(other)
    const gateway = network.platformUrlHost
    assert.match(address, /^\d+\.\d+\.\d+\.\d+$/)
    // The listener answers on the published port, so silence below is the network's doing.
    await until(async () => (await hearFrom('127.0.0.1', port)).startsWith('hello'))
    const tries = [
      `${address} 22`,
      `${address} 8080`,
      `${gateway} ${port}`,
      `${gateway} 22`,
      `172.17.0.1 ${port}`,
      `${address.replace(/\d+$/, '255')} 8080`,
    ]
    const said = await sayOf(
      tries
        .map((target) => `echo "${target}: $(nc -w 2 ${target} </dev/null 2>/dev/null || echo unreachable)"`)
        .join('; '),
    )
    assert.deepEqual(said.trimEnd().split('\n'), [
      ...tries.map((target) => `${target}: unreachable`),
      'ready',
    ])
  })

  test('agents have no IPv6 address over which the rules could be passed by', async () => {
    const said = await sayOf('cat /proc/net/if_inet6 2>/dev/null | grep -v " lo$"')
    assert.equal(said.trim(), 'ready')
  })

  test('an agent reaches a listener of the platform on the gateway, and none on loopback', async () => {
    assert.equal(network.hostAddress.type, 'tcp')
    const address = network.hostAddress.type === 'tcp' ? network.hostAddress.address : ''
    const greet = createServer((socket) => socket.end('welcome home\n').on('error', () => {}))
    const hidden = createServer((socket) => socket.end('secret\n').on('error', () => {}))
    await new Promise<void>((resolve) => greet.listen(0, address, resolve))
    await new Promise<void>((resolve) => hidden.listen(0, '127.0.0.1', resolve))
    const portOf = (server: typeof greet) => (server.address() as { port: number }).port
    try {
      const said = await sayOf(
        `nc -w 2 ${network.platformUrlHost} ${portOf(greet)} </dev/null; nc -w 2 ${network.platformUrlHost} ${portOf(hidden)} </dev/null`,
      )
      assert.match(said, /welcome home/)
      assert.doesNotMatch(said, /secret/)
    } finally {
      greet.close()
      hidden.close()
    }
  })

  test('the way out leads beyond the host', async () => {
    // Routes, not a connection: a test must not depend on what the network around the host allows.
    assert.match(
      await sayOf('ip route'),
      new RegExp(`default via ${network.platformUrlHost.replaceAll('.', '\\.')}`),
    )
    const { Internal } = await engine.docker.getNetwork(engine.mark).inspect()
    assert.equal(Internal, false)
  })

  test('a network of the same name that joins its containers is refused', async () => {
    const name = `${engine.mark}-open`
    const open = await engine.docker.createNetwork({ Name: name, Labels: { 'roost.install': engine.mark } })
    try {
      const trusting = createDockerContainers(url, { install: engine.mark, network: name })
      await assert.rejects(trusting.ensureNetwork(), hasFault('engine_fault'))
    } finally {
      await open.remove()
    }
  })

  test('a port in use is port_taken, and the port is free again once its container is gone', async () => {
    const port = await freePort()
    const first = await run(listen, { ssh: { bind: '127.0.0.1', port } })
    const second = await containers.create(specOf(engine.image, 'stay', { ssh: { bind: '127.0.0.1', port } }))
    await assert.rejects(containers.start(second.id), hasFault('port_taken'))
    await containers.remove(first)
    await containers.start(second.id)
  })

  test('inside, privileges are what the contract keeps', async () => {
    const facts = 'grep -E "^(CapBnd|NoNewPrivs|Seccomp):" /proc/self/status'
    // CHOWN 0, SETGID 6, SETUID 7, NET_BIND_SERVICE 10, SYS_CHROOT 18, AUDIT_WRITE 29.
    const usual = (1n << 0n) | (1n << 6n) | (1n << 7n) | (1n << 10n) | (1n << 18n) | (1n << 29n)
    // DAC_OVERRIDE 1, FOWNER 3, KILL 5.
    const full = usual | (1n << 1n) | (1n << 3n) | (1n << 5n)
    const said = await sayOf(facts)
    assert.equal(BigInt(`0x${/CapBnd:\s*(\w+)/.exec(said)?.[1]}`), usual)
    assert.match(said, /NoNewPrivs:\s*1/)
    assert.match(said, /Seccomp:\s*2/)
    const saidFull = await sayOf(facts, { fullCapabilities: true })
    assert.equal(BigInt(`0x${/CapBnd:\s*(\w+)/.exec(saidFull)?.[1]}`), full)
    assert.match(saidFull, /NoNewPrivs:\s*0/)
  })

  test('inside, /tmp is small and runs nothing', async () => {
    const said = await sayOf('mount | grep " /tmp "; cp /bin/busybox /tmp/x; /tmp/x true || echo refused')
    assert.match(said, /tmpfs.*noexec/)
    assert.match(said, /nosuid/)
    assert.match(said, /size=16384k/)
    assert.match(said, /refused/)
  })

  test('the engine holds limits, restart policy and log caps as the contract has them', async () => {
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

  test('the environment of a container is in no address that the engine is asked', async () => {
    engine.line.asked.length = 0
    await containers.create(specOf(engine.image, 'stay', { env: { ROOST_AGENT_KEY: 'k-1234567890' } }))
    assert.ok(engine.line.asked.some((line) => line.startsWith('POST /containers/create?name=')))
    assert.ok(engine.line.asked.every((line) => !line.includes('k-1234567890')))
  })

  test('a volume of somebody else is neither used nor removed', async () => {
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

  test('sampling a known container asks the engine nothing', async () => {
    const id = await run('echo ready; sleep 3600')
    await containers.sample(id)
    engine.line.asked.length = 0
    for (let times = 0; times < 10; times += 1) assert.ok(await containers.sample(id))
    assert.deepEqual(engine.line.asked, [])
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
