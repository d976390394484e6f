import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestAlerts } from '../../test/alerts.ts'
import { createTestClock } from '../../test/clock.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { agentStore } from '../records/index.ts'
import { type AgentsWorld, openAgents, until } from '../test/world.ts'
import { createObserve } from './observe.ts'
import { createOperations } from './operations.ts'
import { createRepair, type RepairDeps } from './repair.ts'

const unreachable = 'Node n2 is not ready.'

async function openWorld() {
  const world = await openAgents(await openTestDatabase())
  const owner = await world.person()
  const call = (method: string, path: string, body?: object) =>
    world.request(owner.key, method, `/api/agents${path}`, body)
  const create = async (name = 'helper') => {
    const reply = await call('POST', '', { name })
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    const agent = await world.row(name)
    return { agent, id: agent.container_id ?? '' }
  }
  return {
    ...{ world, call, create },
    states: async () => (await world.containers.list()).map(({ id, status }) => [id, status]),
    repair: () => world.area.lifecycle.repair(),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

async function patch(world: AgentsWorld, id: string, values: object) {
  await world.db.atomically(async (tx) => {
    await agentStore(tx).update(id, values)
    world.area.agentRecords.changed(tx, id)
  })
}

/** As if the process had stopped in the middle of a restart, and its node with it. */
async function openInterrupted() {
  const t = await openWorld()
  const { agent, id } = await t.create()
  await patch(t.world, agent.id, { container_id: null, applied: null, status: 'stopped' })
  t.world.engine.lose(id, unreachable, { canMove: true })
  return { ...t, agent, id }
}

test('a lost container that an interrupted restart left is not doubled, and is taken over', async () => {
  await using t = await openInterrupted()
  const refused = await t.call('POST', '/helper/start')
  assert.equal(refused.json.error, 'container_engine_error')
  assert.match(refused.json.detail, /Node n2 is not ready/)
  assert.deepEqual(await t.states(), [[t.id, 'lost']])
  assert.equal((await t.world.row('helper')).container_id, t.id)
  const { json } = await t.call('GET', '/helper')
  assert.deepEqual(json.recreate_reasons, ['agent_key'], 'its settings are unknown')

  await t.repair()
  assert.equal((await t.world.row('helper')).waiting?.canMove, true)
  await t.world.clock.advance(61)
  await t.repair()
  await until(async () => (await t.world.row('helper')).status === 'running', 'it runs elsewhere')
  assert.deepEqual(await t.states(), [[t.id, 'running']])
})

test('a lost container that an interrupted rename left is not doubled under the new name', async () => {
  await using t = await openInterrupted()
  const renamed = await t.call('PUT', '/helper/rename', { new_name: 'other' })
  assert.equal(renamed.json.error, 'container_engine_error')
  assert.deepEqual(await t.states(), [[t.id, 'lost']])
  assert.equal((await t.world.row('other')).container_id, t.id)
})

test('a restart of a lost agent keeps what the engine says about its container', async () => {
  await using t = await openWorld()
  const { agent, id } = await t.create()
  t.world.engine.lose(id, unreachable, { canMove: true })
  await until(async () => (await t.world.row('helper')).waiting !== null, 'it is seen')
  const { waiting } = await t.world.row('helper')
  await t.world.clock.advance(1)
  await t.world.area.lifecycle.restart(agent.id, { recreate: false })
  assert.deepEqual((await t.world.row('helper')).waiting, waiting)
  for (const action of ['stop', 'start'])
    assert.equal((await t.call('POST', `/helper/${action}`)).status, 200)
  assert.deepEqual((await t.world.row('helper')).waiting, waiting)
  assert.equal(waiting?.canMove, true)
})

for (const canMove of [true, false]) {
  test(`a lost agent whose volumes ${canMove ? 'can' : 'cannot'} move, against its row`, async () => {
    await using t = await openWorld()
    const { world } = t
    const { agent, id } = await t.create()
    world.engine.lose(id, unreachable, { canMove })
    await until(async () => (await world.row('helper')).waiting !== null, 'it is seen')
    const waiting = { ...(await world.row('helper')).waiting, canMove: !canMove }
    await patch(world, agent.id, { waiting: JSON.stringify(waiting) })
    let opened = 0
    const { agentRecords, lifecycle } = world.area
    const { reconcile } = createOperations({
      ...{ db: world.db, clock: world.clock, agentRecords, events: world.events },
      ...{ lock: lifecycle.lock, machine: lifecycle.machine, detach: lifecycle.detach },
      ...{ hooks: lifecycle.hooks, alerts: createTestAlerts().alerts },
      placement: { refuseElsewhere: async () => {} },
      injectCredentials: async () => ({
        credentials_injection: 'nothing_to_inject',
        credentials_result: null,
      }),
      deliverSkills: async () => null,
      takeoverDue: async () => 0,
      newWorkspaces: {
        isAllowed: async () => true,
        open: async () => {
          opened += 1
          return false
        },
      },
    })
    await reconcile(agent.id)
    assert.deepEqual([opened, await t.states()], canMove ? [0, [[id, 'running']]] : [1, [[id, 'lost']]])
  })
}

test('an agent that waits for long is started again with its present settings, now and then', async () => {
  await using t = await openWorld()
  const { world } = t
  world.engine.delayStarts('no room')
  const { agent, id } = await t.create()
  let starts = 0
  const { start } = world.containers
  world.containers.start = (...args) => {
    starts += 1
    return start(...args)
  }
  const passAfter = async (seconds: number) => {
    await world.clock.advance(seconds)
    await t.repair()
    return starts
  }
  await t.call('PUT', '/helper/resources', { cpu: '1' })
  assert.equal(await passAfter(59), 0)
  assert.equal(await passAfter(1), 1)
  const again = await world.row('helper')
  assert.notEqual(again.container_id, id)
  assert.equal(again.applied?.cpu, '1')
  assert.equal(again.waiting?.state, 'pending')
  assert.deepEqual(await t.states(), [[again.container_id, 'pending']])
  assert.equal(await passAfter(120), 1)
  // After an attempt during another operation of the agent, the next one follows in a minute.
  await world.area.lifecycle.lock.run(agent.id, async () => assert.equal(await passAfter(480), 1))
  assert.equal(await passAfter(60), 2)
  assert.deepEqual(await t.states(), [[again.container_id, 'pending']])
  assert.deepEqual(await world.eventTypes(), ['agent.created', 'agent.settings_changed'])
  assert.deepEqual((await world.row('helper')).recent_exits, [])

  world.engine.delayStarts(null)
  await until(async () => (await world.row('helper')).status === 'running', 'it runs')
  assert.equal((await world.eventTypes()).filter((type) => type === 'agent.started').length, 1)
})

test('ends of a container that is never seen to run are counted once each, and hold it', async () => {
  await using t = await openWorld()
  const { world } = t
  const { agent } = await t.create()
  const { alerts } = createTestAlerts()
  const observe = createObserve({
    ...{ db: world.db, clock: world.clock, agentRecords: world.area.agentRecords },
    ...{ events: world.events, alerts },
  })
  const end = (from: 'event' | 'list') => ({
    ...{ at: world.clock.now().toISOString(), from, exitCode: 126, oomKilled: false },
  })
  const waiting = {
    state: 'pending' as const,
    reason: 'back-off',
    since: world.clock.now().toISOString(),
    canMove: false,
  }
  await world.clock.advance(1)
  assert.deepEqual(await observe.exited(agent, end('event')), { recorded: true, held: false })
  for (const number of [2, 3, 4, 5]) {
    await observe.waiting(await world.row('helper'), waiting)
    await world.clock.advance(20)
    assert.equal((await observe.exited(agent, end('list'))).recorded, false, 'a list repeats an old end')
    const held = number === 5
    assert.deepEqual(await observe.exited(agent, end('event')), { recorded: true, held })
    assert.equal((await observe.exited(agent, end('event'))).recorded, false, 'the same end again')
    assert.equal((await world.row('helper')).waiting, null)
  }
  assert.equal((await world.row('helper')).held, true)
})

for (const by of ['the event', 'the repair'] as const) {
  test(`an agent that waited on a node that is lost is started elsewhere after ${by}`, async () => {
    await using t = await openWorld()
    const { world } = t
    world.engine.delayStarts('The node n2 prepares the container.')
    const { id } = await t.create()
    assert.equal((await world.row('helper')).waiting?.state, 'pending')
    // From here on, the pass does everything.
    if (by === 'the repair') await world.area.lifecycle.close()
    world.engine.lose(id, unreachable, { canMove: true })
    if (by === 'the repair') await t.repair()
    await until(async () => (await world.row('helper')).waiting?.state === 'lost', 'it is seen')
    assert.equal((await world.row('helper')).status, 'stopped')
    world.engine.delayStarts(null)
    assert.deepEqual(await t.states(), [[id, 'lost']])
    if (by === 'the event') await world.clock.waitingFor(60)
    await world.clock.advance(60)
    if (by === 'the repair') await t.repair()
    await until(async () => (await world.row('helper')).status === 'running', 'it runs elsewhere')
    assert.deepEqual(await t.states(), [[id, 'running']])
    assert.deepEqual(await world.eventTypes(), ['agent.created', 'agent.started'])
  })
}

test('a deleted agent whose container cannot be stopped does not delay the pass', async () => {
  await using t = await openWorld()
  const { world } = t
  const [first, second] = [await t.create('first'), await t.create('second')]
  const { remove } = world.containers
  const release = Promise.withResolvers<void>()
  let attempts = 0
  for (const name of ['first', 'second']) {
    world.engine.failNext('remove', 'engine_fault')
    assert.equal((await t.call('DELETE', `/${name}`)).status, 200)
  }
  world.containers.remove = async (id) => {
    if (id !== first.id) return remove(id)
    attempts += 1
    await release.promise
    return remove(id)
  }
  const passing = t.repair()
  await until(async () => (await t.states()).every(([id]) => id !== second.id), 'the other one is removed')
  await world.clock.waitingFor(15)
  await world.clock.advance(15)
  await passing
  await t.repair()
  assert.equal(attempts, 1, 'it is not removed twice at the same time')
  release.resolve()
  await until(async () => (await world.area.lifecycle.leftovers.all()).length === 0, 'the first one follows')
  await world.assertNothingLeft()
})

test('a container of a former workspace that cannot be stopped does not delay the pass', async () => {
  const clock = createTestClock()
  const release = Promise.withResolvers<void>()
  let attempts = 0
  const { pass } = createRepair({
    clock,
    agentRecords: { everyRow: async () => [] },
    containers: { list: async () => [], stop: async () => {} },
    leftovers: { all: async () => [] },
    clearFormer: () => {
      attempts += 1
      return release.promise
    },
  } as unknown as RepairDeps)
  const first = pass()
  await clock.waitingFor(15)
  await clock.advance(15)
  await first
  await pass()
  assert.equal(attempts, 1)
  release.resolve()
  await first
  await pass()
  assert.equal(attempts, 2)
})
