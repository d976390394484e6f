import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Containers } from '../port.ts'
import { hasFault, specOf } from '../test/harness.ts'
import { connect, createAsk, toContainerError } from './connect.ts'
import { createDockerContainers } from './docker.ts'

test('each form of the URL selects its engine', () => {
  const parts = (url: string) => {
    const { socketPath, host, port } = connect(url).modem as {
      socketPath?: unknown
      host?: string
      port?: number
    }
    return { socketPath, host, port }
  }
  assert.deepEqual(parts('docker:///run/x.sock'), {
    socketPath: '/run/x.sock',
    host: undefined,
    port: undefined,
  })
  assert.deepEqual(parts('docker:tcp://10.0.0.1:2375'), {
    socketPath: undefined,
    host: '10.0.0.1',
    port: 2375,
  })
  assert.doesNotThrow(() => connect('docker:'))
})

test('an explicit socket overrides DOCKER_HOST', () => {
  const before = process.env.DOCKER_HOST
  process.env.DOCKER_HOST = 'tcp://10.0.0.9:2375'
  try {
    const { socketPath, host } = connect('docker:///run/x.sock').modem as {
      socketPath?: unknown
      host?: string
    }
    assert.deepEqual({ socketPath, host }, { socketPath: '/run/x.sock', host: undefined })
  } finally {
    if (before === undefined) delete process.env.DOCKER_HOST
    else process.env.DOCKER_HOST = before
  }
})

test('an unknown URL is refused with the name of its variable', () => {
  for (const url of ['docker:relative.sock', 'docker:tcp://host', 'docker://host/x', 'docker:http://x:1']) {
    assert.throws(() => connect(url), /ROOST_CONTAINERS_URL/, url)
  }
})

/** Every call of the port that reaches the engine. */
const calls: [string, (containers: Containers) => Promise<unknown>][] = [
  ['ping', (containers) => containers.ping()],
  ['hasImage', (containers) => containers.hasImage('x')],
  ['ensureNetwork', (containers) => containers.ensureNetwork()],
  ['ensureClosedNetwork', (containers) => containers.ensureClosedNetwork()],
  ['create', (containers) => containers.create(specOf('x', 'stay'))],
  ['start', (containers) => containers.start('x')],
  ['stop', (containers) => containers.stop('x', 10)],
  ['remove', (containers) => containers.remove('x')],
  ['inspect', (containers) => containers.inspect('x')],
  ['list', (containers) => containers.list()],
  ['logs', (containers) => containers.logs('x', 10)],
  ['sample', (containers) => containers.sample('x')],
  ['createVolume', (containers) => containers.createVolume('x', {})],
  ['removeVolume', (containers) => containers.removeVolume('x')],
  ['listVolumes', (containers) => containers.listVolumes()],
]

test('every call to an engine without a socket is engine_down', async () => {
  const containers = createDockerContainers('docker:///run/roost-test-nowhere.sock', {
    install: 'x',
    network: 'x',
  })
  for (const [name, call] of calls) await assert.rejects(call(containers), hasFault('engine_down'), name)
})

test('every call to a silent engine is engine_down in time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-mute-'))
  const path = join(folder, 'mute.sock')
  const server = createServer((socket) => socket.on('error', () => {}))
  await new Promise<void>((resolve) => server.listen(path, resolve))
  try {
    const containers = createDockerContainers(`docker://${path}`, {
      install: 'x',
      network: 'x',
      timeoutSeconds: 0.2,
    })
    const before = Date.now()
    const rejections = calls.map(([name, call]) =>
      assert.rejects(call(containers), hasFault('engine_down'), name),
    )
    await Promise.all(rejections)
    // Below the default limit.
    assert.ok(Date.now() - before < 15_000)
  } finally {
    server.close()
    await rm(folder, { recursive: true })
  }
})

test('an aborted call is engine_down immediately', async () => {
  const controller = new AbortController()
  const asking = createAsk(60)('wait', () => new Promise(() => {}), { signal: controller.signal })
  controller.abort()
  await assert.rejects(asking, hasFault('engine_down'))
})

test('messages of engines map to named faults', () => {
  const fault = (statusCode: number, message: string) =>
    toContainerError('x', Object.assign(new Error(message), { statusCode })).fault
  assert.equal(fault(409, 'The container name "/a" is already in use by container "b".'), 'name_taken')
  assert.equal(fault(500, 'Bind for 127.0.0.1:2222 failed: port is already allocated'), 'port_taken')
  assert.equal(fault(500, 'listen tcp4 127.0.0.1:2222: bind: address already in use'), 'port_taken')
  assert.equal(fault(404, 'No such image: x:1'), 'image_missing')
  assert.equal(fault(404, 'No such container: x'), 'no_such_container')
  assert.equal(fault(404, 'network roost-agents not found'), 'engine_fault')
  assert.equal(fault(500, 'out of disk'), 'engine_fault')
})
