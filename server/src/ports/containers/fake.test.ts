import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeEngine, type FakeProgram } from './fake.ts'
import type { ContainerSpec } from './port.ts'
import { containersSuite } from './suite.ts'
import { type Behaviour, hasFault, specOf } from './test/harness.ts'

const image = 'roost-agent:fake'

containersSuite('containers of the fake', async () => {
  const notes = new Set<string>()
  const programs: Record<Behaviour, FakeProgram> = {
    stay: { output: ['ready'] },
    stubborn: { output: ['ready'], ignoresStop: true },
    talk: { output: [1, 2, 3, 4, 5].map((line) => `line ${line}`).concat('ready') },
    fail: { output: ['cannot go on'], exits: { code: 3, oomKilled: false } },
    devour: { output: ['eating'], exits: { code: 137, oomKilled: true } },
    remember: { output: ['ready'] },
    publish: { output: ['ready'] },
    consume: { output: ['ready'] },
    store: { output: ['ready'], disk: { layerBytes: 2_000_000, volumeBytes: 3_000_000 } },
  }
  const engine = createFakeEngine({
    program(spec) {
      const behaviour = spec.env.ROOST_TEST_BEHAVIOUR
      if (behaviour === 'consume') return { output: readThrough(spec) }
      if (behaviour === 'remember') {
        const volume = spec.mounts.find((mount) => mount.type === 'volume')?.volume ?? ''
        const output = [notes.has(volume) ? 'kept' : 'empty', 'ready']
        notes.add(volume)
        return { output }
      }
      return programs[behaviour as Behaviour]
    },
  })
  const away = createFakeEngine()
  away.refuse(true)
  return {
    containers: engine.containers('one'),
    neighbour: engine.containers('two'),
    away: away.containers('one'),
    image,
    tellsMemoryKills: true,
    hasLayers: true,
    runsElsewhere: false,
    crash: async (id) => engine.crash(id),
    interruptEvents: async () => engine.dropEvents(),
    async close() {},
  }
})

/** Nothing runs here, so this only shows that the adapter kept the spec's mounts. */
function readThrough({ mounts }: ContainerSpec): string[] {
  const isEmpty = mounts.some(
    ({ type, target }) => type === 'empty' && target === '/home/developer/shared-in',
  )
  const found = mounts.find(({ target }) => target === '/home/developer/shared-in/one')
  const isRead = isEmpty && found?.type === 'volume' && found.readOnly === true
  return isRead ? ['saw one', 'published', 'ready'] : ['saw *', 'nothing', 'ready']
}

test('a used port is port_taken at the start, and is free after its container stopped', async () => {
  const containers = createFakeEngine().containers('one')
  const ssh = { bind: '127.0.0.1', port: 2222 }
  const first = await containers.create(specOf(image, 'stay', { ssh }))
  const second = await containers.create(specOf(image, 'stay', { ssh }))
  await containers.start(first.id)
  await assert.rejects(containers.start(second.id), hasFault('port_taken'))
  await containers.stop(first.id, 10)
  await containers.start(second.id)
})

test('a requested failure occurs once', async () => {
  const engine = createFakeEngine()
  const containers = engine.containers('one')
  engine.failNext('create', 'engine_fault')
  await assert.rejects(containers.create(specOf(image, 'stay')), hasFault('engine_fault'))
  await containers.create(specOf(image, 'stay'))
})

test('a returning engine sends a resync, and listeners miss events of the outage', async () => {
  const engine = createFakeEngine()
  const containers = engine.containers('one')
  const { id } = await containers.create(specOf(image, 'stay'))
  await containers.start(id)
  const controller = new AbortController()
  const events = containers.events(controller.signal)[Symbol.asyncIterator]()
  assert.equal((await events.next()).value.type, 'resync')
  engine.refuse(true)
  engine.crash(id)
  await new Promise((resolve) => setImmediate(resolve))
  engine.refuse(false)
  assert.equal((await events.next()).value.type, 'resync')
  assert.equal((await containers.inspect(id))?.status, 'running')
  controller.abort()
  assert.equal((await events.next()).done, true)
})

test('samples report the usage set by a test', async () => {
  let time = 0
  const engine = createFakeEngine({
    clock: { now: () => new Date(time), wait: async () => {}, waitAbout: async () => {} },
  })
  const containers = engine.containers('one')
  const { id } = await containers.create(specOf(image, 'stay'))
  await containers.start(id)
  await containers.sample(id)
  time = 1000
  engine.use(id, { cpuSeconds: 0.5, memoryBytes: 1000 })
  const sample = await containers.sample(id)
  assert.equal(sample?.cpuPercent, 50)
  assert.equal(sample?.memoryUsedBytes, 1000)
})
