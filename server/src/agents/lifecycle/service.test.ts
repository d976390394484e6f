import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAlerts } from '../../foundation/alerts/index.ts'
import { forEachDialect, openTestDatabase } from '../../test/dialects.ts'
import { agentStore } from '../records/index.ts'
import { type AgentsWorld, createShared, openAgents, until } from '../test/world.ts'
import { volumesOf } from './spec.ts'

async function withAgent(world: AgentsWorld, name = 'helper', body: object = {}) {
  const owner = await world.person()
  const reply = await world.request(owner.key, 'POST', '/api/agents', { name, ...body })
  assert.equal(reply.status, 200, JSON.stringify(reply.json))
  return { owner, agent: await world.row(name) }
}
const statusOf = async (world: AgentsWorld, name = 'helper') =>
  (await world.area.agentRecords.byName(name))?.status

test('two installations on one engine have agents of the same name', async () => {
  const shared = createShared()
  await using first = await openAgents(await openTestDatabase(), { shared })
  const others = { ...createShared(), clock: shared.clock, engine: shared.engine }
  await using second = await openAgents(await openTestDatabase(), { shared: others, install: 'second' })
  for (const world of [first, second]) {
    const owner = await world.person()
    const reply = await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    assert.equal(reply.json.status, 'running')
  }
  const names = async (world: AgentsWorld) => (await world.containers.list()).map(({ name }) => name)
  const suffix = (await second.row('helper')).id.slice(-6).toLowerCase()
  assert.deepEqual([await names(first), await names(second)], [['agent-helper'], [`agent-helper-${suffix}`]])
  // Under a free name the suffix goes.
  const owner = await second.person('admin')
  await second.request(owner.key, 'PUT', '/api/agents/helper/rename', { new_name: 'other' })
  assert.deepEqual(await names(second), ['agent-other'])
})

forEachDialect((_name, open) => {
  test('200 stop and start: the container follows, hooks run, events are stored', async () => {
    await using world = await openAgents(await open())
    const { owner, agent } = await withAgent(world)
    const stopping: string[] = []
    world.area.lifecycle.hooks.onStopping(async (_tx, { name }) => void stopping.push(name))

    world.clock.set('2030-01-01T01:00:00.000Z')
    const stopped = await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    assert.equal(stopped.status, 200)
    assert.equal((await world.containers.inspect(agent.container_id ?? ''))?.status, 'stopped')
    assert.equal(await statusOf(world), 'stopped')
    assert.deepEqual(stopping, ['helper'])

    const started = await world.request(owner.key, 'POST', '/api/agents/helper/start')
    assert.deepEqual(
      { status: started.status, recreated: started.json.recreated, reason: started.json.recreate_reason },
      { status: 200, recreated: false, reason: null },
    )
    assert.equal((await world.row('helper')).container_id, agent.container_id)
    assert.equal(await statusOf(world), 'running')
    assert.deepEqual(await world.eventTypes(), ['agent.created', 'agent.stopped', 'agent.started'])
  })

  test('200 starting a running and stopping a stopped agent changes nothing', async () => {
    await using world = await openAgents(await open())
    const { owner } = await withAgent(world)
    assert.equal((await world.request(owner.key, 'POST', '/api/agents/helper/start')).status, 200)
    await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    assert.equal((await world.request(owner.key, 'POST', '/api/agents/helper/stop')).status, 200)
    assert.deepEqual(await world.eventTypes(), ['agent.created', 'agent.stopped'])
  })

  test('twenty concurrent starts and stops end with row and container in the same state', async () => {
    const db = await open()
    const shared = createShared()
    await using world = await openAgents(db, { shared })
    await using other = await openAgents(await db.openAgain(), { shared })
    const { owner } = await withAgent(world)
    const calls = Array.from({ length: 20 }, (_, index) => {
      const through = index % 3 === 0 ? other : world
      return through.request(owner.key, 'POST', `/api/agents/helper/${index % 2 ? 'start' : 'stop'}`)
    })
    const done = Promise.all(calls)
    let isDone = false
    void done.finally(() => {
      isDone = true
    })
    // The other process polls for the lock with the clock.
    await until(async () => {
      // Advances slower than the databases answer, so that no call times out.
      for (let query = 0; query < 5; query += 1) await world.row('helper')
      await world.clock.advance(0.1)
      return isDone
    }, 'all calls are answered')
    assert.deepEqual(new Set((await done).map((reply) => reply.status)), new Set([200]))
    // Engine events and the resulting repairs may still be pending.
    await until(async () => {
      await world.clock.advance(1)
      const agent = await world.row('helper')
      const state = await world.containers.inspect(agent.container_id ?? '')
      return state?.status === agent.status && agent.desired === agent.status
    }, 'row and container share one state')
    assert.equal((await world.containers.list()).length, 1)
  })

  for (const [reason, path, body] of [
    ['resources', 'resources', { cpu: '4' }],
    ['capabilities', 'capabilities', { full_capabilities: true }],
    ['runtime', 'runtime', { runtime: 'gemini-cli' }],
  ] as const) {
    test(`a changed ${reason} applies at the next start, in a new container on the old volumes`, async () => {
      await using world = await openAgents(await open())
      const { owner, agent } = await withAgent(world)
      const volumes = await world.containers.listVolumes()
      const put = await world.request(owner.key, 'PUT', `/api/agents/helper/${path}`, body)
      assert.equal(put.json.restart_needed, true)
      const details = await world.request(owner.key, 'GET', '/api/agents/helper')
      assert.deepEqual(details.json.recreate_reasons, [reason])
      assert.equal((await world.row('helper')).container_id, agent.container_id)
      await world.request(owner.key, 'POST', '/api/agents/helper/stop')
      const started = await world.request(owner.key, 'POST', '/api/agents/helper/start')
      assert.equal(started.json.recreated, true)
      assert.equal(started.json.recreate_reason, reason)
      const [state, ...more] = await world.containers.list()
      assert.deepEqual(more, [])
      assert.notEqual(state?.id, agent.container_id)
      assert.deepEqual(await world.containers.listVolumes(), volumes)
      const after = await world.request(owner.key, 'GET', '/api/agents/helper')
      assert.equal(after.json.needs_recreate, false)
    })
  }

  test('a new image version is used at the next start', async () => {
    await using world = await openAgents(await open())
    const { owner } = await withAgent(world)
    world.images.changeSource()
    world.knowTags()
    await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    const started = await world.request(owner.key, 'POST', '/api/agents/helper/start')
    assert.equal(started.json.recreate_reason, 'image_version')
    assert.deepEqual(world.images.made, ['claude-code'], 'a missing image is built first')
  })

  test('500 container_engine_error when the engine is down; the agent stays stopped', async () => {
    await using world = await openAgents(await open())
    const { owner } = await withAgent(world)
    await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    world.engine.refuse(true)
    const reply = await world.request(owner.key, 'POST', '/api/agents/helper/start')
    assert.equal(reply.status, 500)
    assert.equal(reply.json.error, 'container_engine_error')
    world.engine.refuse(false)
    await world.area.lifecycle.repair()
    assert.equal((await world.containers.list())[0]?.status, 'stopped')
    assert.equal(await statusOf(world), 'stopped')
  })

  test('exited is recorded when the container ends by itself; the restart policy restarts it', async () => {
    await using world = await openAgents(await open())
    const { agent } = await withAgent(world)
    world.engine.crash(agent.container_id ?? '', 9, true)
    await until(async () => (await world.eventTypes()).includes('agent.started'), 'it restarted')
    assert.deepEqual(await world.eventTypes(), ['agent.created', 'agent.exited', 'agent.started'])
    const exited = await world.lastEvent('agent.exited')
    assert.equal(exited.exit_code, 9)
    assert.equal(exited.oom_killed, true)
    await until(async () => (await statusOf(world)) === 'running', 'its status is running')
  })

  test('the repair starts what the engine does not restart, after a grace period', async () => {
    await using world = await openAgents(await open())
    const { agent } = await withAgent(world)
    // The engine treats a stop from outside as orderly; the platform does not.
    await world.clock.advance(1)
    await world.containers.stop(agent.container_id ?? '', 0)
    await until(async () => (await statusOf(world)) === 'exited', 'it is seen')
    await world.area.lifecycle.repair()
    assert.equal(await statusOf(world), 'exited', 'the engine has its chance first')
    await world.clock.waitingFor(10)
    await world.clock.advance(11)
    await until(async () => (await statusOf(world)) === 'running', 'it is brought back')
    assert.equal((await world.containers.list())[0]?.status, 'running')
  })

  test('a stopped agent that is started from outside is stopped again', async () => {
    await using world = await openAgents(await open())
    const { owner, agent } = await withAgent(world)
    await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    await world.containers.start(agent.container_id ?? '')
    await until(async () => (await world.containers.list())[0]?.status === 'stopped', 'it is stopped again')
    assert.equal(await statusOf(world), 'stopped')
  })

  test('a container removed from outside is recreated', async () => {
    await using world = await openAgents(await open())
    const { agent } = await withAgent(world)
    await world.containers.remove(agent.container_id ?? '')
    await until(async () => (await statusOf(world)) === 'exited', 'it is seen')
    await world.clock.waitingFor(10)
    await world.clock.advance(11)
    await until(async () => (await statusOf(world)) === 'running', 'it is recreated')
    assert.notEqual((await world.row('helper')).container_id, agent.container_id)
  })

  test('a container that ends during another operation is restarted after it', async () => {
    await using world = await openAgents(await open())
    const { agent } = await withAgent(world)
    const operation = Promise.withResolvers<void>()
    const other = world.area.lifecycle.lock.run(agent.id, () => operation.promise)
    await world.containers.remove(agent.container_id ?? '')
    await until(async () => (await statusOf(world)) === 'exited', 'it is seen')
    await world.clock.waitingFor(10)
    await world.clock.advance(10)
    assert.equal(await statusOf(world), 'exited')
    await world.clock.waitingFor(10)
    operation.resolve()
    await other
    await world.clock.advance(10)
    await until(async () => (await statusOf(world)) === 'running', 'it is recreated')
  })

  test('five exits within ten minutes: it stays exited and a restart loop is reported', async () => {
    let crashes = true
    const shared = createShared({
      program: () => ({ output: [], exits: crashes ? { code: 3, oomKilled: false } : undefined }),
    })
    const alerts = createAlerts()
    const changes: string[] = []
    alerts.register({
      raise: async (_tx, { kind, title }) => void changes.push(`${kind}: ${title}`),
      clear: async (_tx, _id, kind) => void changes.push(`cleared: ${kind}`),
    })
    await using world = await openAgents(await open(), { shared, alerts })
    const owner = await world.person()
    await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
    await until(async () => (await world.row('helper')).held, 'it is held down')
    assert.equal(changes.at(-1), 'restart_loop: The agent "helper" keeps crashing and stays down')
    await until(async () => (await world.containers.list())[0]?.status === 'stopped', 'the engine stopped it')
    const events = await world.eventTypes()
    assert.equal(events.filter((type) => type === 'agent.exited').length, 5)
    assert.equal(events.filter((type) => type === 'agent.restart_loop').length, 1)
    await world.clock.advance(60)
    await world.area.lifecycle.repair()
    assert.equal(await statusOf(world), 'exited')
    assert.equal((await world.containers.list())[0]?.status, 'stopped')

    crashes = false
    await world.request(owner.key, 'PUT', '/api/agents/helper/resources', { cpu: '1' })
    assert.equal((await world.request(owner.key, 'POST', '/api/agents/helper/start')).status, 200)
    assert.equal(await statusOf(world), 'running')
    assert.equal((await world.row('helper')).held, false)
  })

  test('an evicted container starts again at once, however often', async () => {
    await using world = await openAgents(await open())
    const { agent } = await withAgent(world)
    for (let count = 1; count <= 6; count += 1) {
      await world.clock.advance(1)
      assert.equal(world.engine.evict(agent.container_id ?? ''), true)
      await until(async () => {
        // The operation of the previous eviction may still hold the lock, which is tried again after a while.
        await world.clock.advance(0.1)
        return (await world.eventTypes()).filter((type) => type === 'agent.started').length === count
      }, `it started after eviction ${count}`)
    }
    assert.equal((await world.row('helper')).held, false)
    await until(async () => (await statusOf(world)) === 'running', 'the records have followed')
  })

  test('an agent in the middle of a turn is not evicted, until it was never idle for the limit', async () => {
    const running = new Map<string, string>()
    const needs = { runningSince: async () => running }
    await using world = await openAgents(await open(), { needs })
    const { agent } = await withAgent(world)
    const loop = world.area.lifecycle.loops.find(({ name }) => name === 'agents.protect')
    const pass = async () => loop?.run(new AbortController().signal)
    const evict = () => world.engine.evict(agent.container_id ?? '')
    const turn = () => running.set(agent.id, world.clock.now().toISOString())

    turn()
    await pass()
    assert.equal(evict(), false)
    // The next turn follows before the next pass.
    await world.clock.advance(890)
    turn()
    await pass()
    assert.equal(evict(), false)
    await world.clock.advance(10)
    await pass()
    assert.equal(evict(), true)

    // The new container has the whole time, although the pass saw no break.
    // The records of this process follow a moment after the event is visible.
    const now = world.clock.now().toISOString()
    const startedAt = async () => (await world.area.agentRecords.byName('helper'))?.started_at
    await until(async () => (await startedAt()) === now, 'it started again')
    await pass()
    assert.equal(evict(), false)
    world.engine.failNext('protect', 'engine_down')
    running.clear()
    await pass()
    assert.equal(evict(), false, 'the engine did not answer')
    await pass()
    assert.equal(evict(), true)
  })

  test('a repeatedly crashing agent stays stopped once it is stopped', async () => {
    const shared = createShared({
      program: () => ({ output: [], exits: { code: 3, oomKilled: false } }),
    })
    await using world = await openAgents(await open(), { shared })
    const owner = await world.person()
    await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
    assert.equal((await world.request(owner.key, 'POST', '/api/agents/helper/stop')).status, 200)
    const [state] = await world.containers.list()
    assert.equal(state?.status, 'stopped')
    const at = state?.startedAt
    world.clock.set('2030-01-01T00:00:05.000Z')
    await world.area.lifecycle.repair()
    const [later] = await world.containers.list()
    assert.deepEqual([later?.status, later?.startedAt], ['stopped', at])
    assert.equal(await statusOf(world), 'stopped')
  })

  test('at platform startup desired agents are started and the others stay stopped', async () => {
    const db = await open()
    const shared = createShared()
    const again = await db.openAgain()
    {
      await using world = await openAgents(db, { shared })
      const { owner } = await withAgent(world, 'runs')
      await world.request(owner.key, 'POST', '/api/agents', { name: 'stands' })
      await world.request(owner.key, 'POST', '/api/agents/stands/stop')
    }
    // The engine was killed while the platform was down: containers are stopped without an event.
    const containers = shared.engine.containers('test')
    for (const { id } of await containers.list()) await containers.stop(id, 0)
    shared.clock.set('2030-01-01T06:00:00.000Z')
    await using world = await openAgents(again, { shared })
    await until(async () => (await statusOf(world, 'runs')) === 'running', 'it is noticed')
    await until(
      async () => (await containers.list()).filter((state) => state.status === 'running').length === 1,
      'it runs again',
    )
    assert.equal(await statusOf(world, 'stands'), 'stopped')
  })

  test('agents are compared with the engine when it comes back', async () => {
    await using world = await openAgents(await open())
    const { agent } = await withAgent(world)
    const neighbour = world.engine.containers('test')
    await neighbour.ping()
    world.engine.refuse(true)
    // The container ends while the event stream is down.
    world.engine.crash(agent.container_id ?? '')
    world.engine.refuse(false)
    await until(async () => (await statusOf(world)) === 'running', 'still or again')
    await until(
      async () => (await world.containers.list()).every((state) => state.status === 'running'),
      'it runs',
    )
  })

  test('a start that the engine cannot run yet waits with its sentence, and goes on by itself', async () => {
    await using world = await openAgents(await open())
    const { owner, agent } = await withAgent(world)
    await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    const noRoom = '0/3 nodes are available: 3 Insufficient memory.'
    world.engine.delayStarts(noRoom)
    const started = await world.request(owner.key, 'POST', '/api/agents/helper/start')
    assert.equal(started.status, 200)
    assert.equal(started.json.message, `Agent helper waits to start: ${noRoom}`)
    const waiting = (await world.request(owner.key, 'GET', '/api/agents/helper')).json
    assert.deepEqual(
      [waiting.status, waiting.waiting.state, waiting.waiting.reason],
      ['stopped', 'pending', noRoom],
    )
    await world.area.lifecycle.repair()
    assert.equal((await world.containers.inspect(agent.container_id ?? ''))?.status, 'pending', 'left alone')

    world.engine.delayStarts(null)
    await until(async () => (await statusOf(world)) === 'running', 'it runs')
    assert.equal((await world.request(owner.key, 'GET', '/api/agents/helper')).json.waiting, null)
    assert.deepEqual(await world.eventTypes(), ['agent.created', 'agent.stopped', 'agent.started'])
  })

  test('an agent is created although the engine cannot run it yet, and a stop ends the wait', async () => {
    await using world = await openAgents(await open())
    world.engine.delayStarts('no room')
    const { owner, agent } = await withAgent(world)
    assert.equal(await statusOf(world), 'stopped')
    assert.equal(agent.desired, 'running')
    await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    assert.equal((await world.request(owner.key, 'GET', '/api/agents/helper')).json.waiting, null)
    world.engine.delayStarts(null)
    await world.area.lifecycle.repair()
    assert.equal((await world.containers.list())[0]?.status, 'stopped')
  })

  test('an agent on a lost node is exited, is not started a second time, and comes back', async () => {
    await using world = await openAgents(await open())
    const { owner, agent } = await withAgent(world)
    const id = agent.container_id ?? ''
    world.engine.lose(id, 'Node n2 is not ready.')
    await until(async () => (await statusOf(world)) === 'exited', 'it is seen')
    const started = await world.request(owner.key, 'POST', '/api/agents/helper/start')
    assert.equal(started.json.message, 'Agent helper waits to start: Node n2 is not ready.')
    await world.area.lifecycle.repair()
    assert.deepEqual(
      (await world.containers.list()).map((state) => [state.id, state.status]),
      [[id, 'lost']],
    )
    assert.equal((await world.row('helper')).waiting?.state, 'lost')

    world.engine.lose(id, null)
    await until(async () => (await statusOf(world)) === 'running', 'it is back')
    assert.equal((await world.row('helper')).waiting, null)
  })

  test('an agent on a lost node is started elsewhere once its limit has passed without a heartbeat', async () => {
    await using world = await openAgents(await open())
    const { agent } = await withAgent(world)
    const id = agent.container_id ?? ''
    await world.area.health.beat(agent.id, {})
    await world.clock.advance(40)
    world.engine.lose(id, 'Node n2 is not ready.', { canMove: true })
    await until(async () => (await statusOf(world)) === 'exited', 'it is seen')
    await world.area.lifecycle.repair()
    assert.equal((await world.containers.inspect(id))?.status, 'lost', 'the limit has not passed')
    await world.clock.waitingFor(20)
    await world.clock.advance(20)
    await until(async () => (await statusOf(world)) === 'running', 'it runs elsewhere')
    assert.equal((await world.row('helper')).waiting, null)
    assert.deepEqual(
      (await world.containers.list()).map((state) => [state.id, state.status]),
      [[id, 'running']],
    )
  })

  test('an agent whose heartbeats arrive is not taken over, whatever its node is said to be', async () => {
    await using world = await openAgents(await open())
    const { agent } = await withAgent(world)
    const id = agent.container_id ?? ''
    world.engine.lose(id, 'Node n2 is not ready.', { canMove: true })
    await until(async () => (await statusOf(world)) === 'exited', 'it is seen')
    await world.clock.waitingFor(60)
    await world.clock.advance(30)
    await world.area.health.beat(agent.id, {})
    await world.clock.advance(30)
    await world.clock.waitingFor(30)
    await world.area.lifecycle.repair()
    assert.equal((await world.containers.inspect(id))?.status, 'lost')
  })

  test('a lost container is not replaced by a change that needs a new one', async () => {
    await using world = await openAgents(await open())
    const { owner, agent } = await withAgent(world)
    world.engine.lose(agent.container_id ?? '', 'Node n2 is not ready.')
    await until(async () => (await statusOf(world)) === 'exited', 'it is seen')
    await world.request(owner.key, 'PUT', '/api/agents/helper/resources', { cpu: '1' })
    await world.request(owner.key, 'POST', '/api/agents/helper/start')
    await assert.rejects(world.area.lifecycle.restart(agent.id, { recreate: true }), /node is unreachable/)
    assert.equal((await world.containers.list())[0]?.id, agent.container_id)
    world.engine.lose(agent.container_id ?? '', null)
    await world.area.lifecycle.repair()
    assert.equal(await statusOf(world), 'running')
    assert.notEqual((await world.containers.list())[0]?.id, agent.container_id, 'replaced once it has ended')
  })

  test('an agent whose start hangs does not delay the repair of others', async () => {
    await using world = await openAgents(await open())
    const { owner } = await withAgent(world)
    const created = await world.request(owner.key, 'POST', '/api/agents', { name: 'other' })
    assert.equal(created.status, 200)
    const release = world.engine.hangNextStart()
    for (const { id } of await world.containers.list()) await world.containers.remove(id)
    const names = ['helper', 'other']
    const statuses = () => Promise.all(names.map((name) => statusOf(world, name)))
    await until(async () => (await statuses()).every((status) => status === 'exited'), 'both are seen')
    // Only the pass acts from here on, not the events of the engine.
    await world.area.lifecycle.close()
    await world.clock.advance(61)
    const first = world.area.lifecycle.repair()
    await until(async () => (await statuses()).includes('running'), 'the other one runs')
    await world.clock.waitingFor(15)
    await world.clock.advance(15)
    await first
    await world.area.lifecycle.repair()
    release()
    await until(async () => (await statuses()).every((status) => status === 'running'), 'both run')
    assert.equal((await world.containers.list()).length, 2)
  })

  test('an interrupted creation is removed by the repair once its creator is gone', async () => {
    await using world = await openAgents(await open())
    const { agent } = await withAgent(world)
    await world.db.atomically(async (tx) => {
      await agentStore(tx).update(agent.id, { state: 'creating' })
      world.area.agentRecords.changed(tx, agent.id)
    })
    await world.area.lifecycle.repair()
    await world.assertNothingLeft()
  })

  test('a creation in progress is left alone', async () => {
    await using world = await openAgents(await open())
    const { agent } = await withAgent(world)
    await world.db.atomically(async (tx) => {
      await agentStore(tx).update(agent.id, { state: 'creating' })
      world.area.agentRecords.changed(tx, agent.id)
    })
    await world.area.lifecycle.lock.run(agent.id, () => world.area.lifecycle.repair())
    assert.ok(await world.row('helper'))
  })

  test('a container left by a dead process under the same name is replaced', async () => {
    await using world = await openAgents(await open())
    const { owner, agent } = await withAgent(world)
    await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    await world.db.atomically(async (tx) => {
      // As if the process had crashed between creating and recording the container.
      await agentStore(tx).update(agent.id, { container_id: null, applied: null })
      world.area.agentRecords.changed(tx, agent.id)
    })
    assert.equal((await world.request(owner.key, 'POST', '/api/agents/helper/start')).status, 200)
    const states = await world.containers.list()
    assert.equal(states.length, 1)
    assert.notEqual(states[0]?.id, agent.container_id)
  })

  test('a container that a failed rename left is removed by the next start', async () => {
    await using world = await openAgents(await open())
    const { owner, agent } = await withAgent(world)
    const rename = () => world.request(owner.key, 'PUT', '/api/agents/helper/rename', { new_name: 'other' })
    world.engine.failNext('remove', 'engine_down')
    assert.equal((await rename()).json.error, 'container_engine_error')
    assert.equal((await world.row('helper')).container_id, null)
    assert.equal((await rename()).status, 200)
    const { container_id } = await world.row('other')
    assert.notEqual(container_id, agent.container_id)
    assert.deepEqual(
      (await world.containers.list()).map(({ id, name }) => [id, name]),
      [[container_id, 'agent-other']],
    )
  })

  test('a container that no row names does not keep the volumes of a deleted agent', async () => {
    await using world = await openAgents(await open())
    const { owner, agent } = await withAgent(world)
    await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    const { id } = await world.containers.create({
      ...{ name: 'agent-before-a-rename', image: world.images.tagFor('claude-code').image },
      ...{ labels: { 'roost.platform': 'agent', 'roost.agent-id': agent.id }, env: {} },
      ...{ cpus: 1, memoryBytes: 1, maxProcesses: 1, tmpBytes: 1, fullCapabilities: false, ssh: null },
      mounts: [{ type: 'volume', volume: volumesOf(agent).workspace, target: '/home/developer' }],
    })
    assert.equal((await world.request(owner.key, 'DELETE', '/api/agents/helper')).status, 200)
    await world.area.lifecycle.repair()
    assert.equal(await world.containers.inspect(id), null)
    await world.assertNothingLeft()
  })

  test('events are recorded even after the clock was set back', async () => {
    await using world = await openAgents(await open())
    const { agent } = await withAgent(world)
    world.clock.set('2029-12-31T00:00:00.000Z')
    world.engine.crash(agent.container_id ?? '')
    await until(async () => (await world.eventTypes()).includes('agent.started'), 'it restarted')
    await until(async () => (await statusOf(world)) === 'running', 'and its status is running')
  })

  test('containers of another installation keep their names', async () => {
    await using world = await openAgents(await open())
    const { owner, agent } = await withAgent(world)
    const foreign = world.engine.containers('another installation')
    const take = (name: string) =>
      foreign.create({
        name,
        image: world.images.tagFor('claude-code').image,
        labels: {},
        env: {},
        cpus: 1,
        memoryBytes: 1,
        maxProcesses: 1,
        tmpBytes: 1,
        fullCapabilities: false,
        mounts: [],
        ssh: null,
      })
    await take('agent-other')
    await take(`agent-other-${agent.id.slice(-6).toLowerCase()}`)
    await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    const rename = { new_name: 'other' }
    assert.equal((await world.request(owner.key, 'PUT', '/api/agents/helper/rename', rename)).status, 200)
    const { json } = await world.request(owner.key, 'POST', '/api/agents/other/start')
    assert.equal(json.error, 'container_engine_error')
    assert.match(json.detail, /ROOST_CONTAINER_PREFIX/)
    assert.equal((await foreign.list()).length, 2)
    assert.deepEqual(await world.containers.list(), [])
  })
})
