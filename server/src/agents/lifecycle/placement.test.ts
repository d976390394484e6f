import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect, type TestDb } from '../../test/dialects.ts'
import { agentStore } from '../records/index.ts'
import { type AgentsWorld, createShared, openAgents, until } from '../test/world.ts'
import { restartGraceMs } from './repair.ts'

const usedEngines = [
  { engine_id: 'a', host_name: 'host-a' },
  { engine_id: 'b', host_name: 'host-b' },
]

forEachDialect((_dialect, open) => {
  test('500 stop and start on another machine name the one with the container, and change nothing', async () => {
    const db = await open()
    const { here, there } = await twoMachines(db)
    await using first = here
    await using second = there
    const owner = await first.person()
    assert.equal((await first.request(owner.key, 'POST', '/api/agents', { name: 'scout' })).status, 200)
    const { container_id, engine_id } = await first.row('scout')
    assert.equal(engine_id, 'a')
    for (const action of ['stop', 'start']) {
      const reply = await second.request(owner.key, 'POST', `/api/agents/scout/${action}`)
      assert.deepEqual([reply.status, reply.json.error], [500, 'container_engine_error'])
      assert.match(reply.json.detail, /machine host-a \(a\)\. Send the request to a replica there/)
    }
    await second.area.lifecycle.repair()
    assert.deepEqual(await second.containers.list(), [])
    const after = await first.row('scout')
    assert.deepEqual([after.desired, after.status, after.container_id], ['running', 'running', container_id])
    assert.equal((await first.containers.inspect(container_id ?? ''))?.status, 'running')
    // The other machine creates its own agents.
    assert.equal((await second.request(owner.key, 'POST', '/api/agents', { name: 'rover' })).status, 200)
    assert.equal((await second.row('rover')).engine_id, 'b')
    assert.equal((await second.containers.list()).length, 1)
  })

  test('an agent deleted on another machine is removed by the repair loop of its own', async () => {
    const db = await open()
    const { here, there } = await twoMachines(db)
    await using first = here
    await using second = there
    const owner = await first.person()
    await first.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
    assert.equal((await second.request(owner.key, 'DELETE', '/api/agents/scout')).status, 200)
    await second.area.lifecycle.repair()
    assert.equal((await first.containers.list()).length, 1)
    await first.area.lifecycle.repair()
    assert.deepEqual(await first.containers.list(), [])
    assert.deepEqual(await first.containers.listVolumes(), [])
  })

  test('an agent without a recorded engine belongs to the one that has its container', async () => {
    const db = await open()
    const { here, there } = await twoMachines(db)
    await using first = here
    await using second = there
    const owner = await first.person()
    await first.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
    await db.atomically((tx) => agentStore(tx).forgetEngines())
    await second.area.lifecycle.repair()
    const reply = await second.request(owner.key, 'POST', '/api/agents/scout/stop')
    assert.deepEqual([reply.status, reply.json.error], [500, 'container_engine_error'])
    assert.match(reply.json.detail, /not on the container engine of this machine/)
    assert.equal((await first.request(owner.key, 'POST', '/api/agents/scout/stop')).status, 200)
    assert.equal((await first.row('scout')).engine_id, 'a')
  })

  test('the pass of a machine records the agents that it has, by container or by workspace', async () => {
    const db = await open()
    const { here, there } = await twoMachines(db)
    await using first = here
    await using second = there
    const owner = await first.person()
    for (const name of ['scout', 'rover'])
      assert.equal((await first.request(owner.key, 'POST', '/api/agents', { name })).status, 200)
    const { container_id: running } = await first.row('scout')
    await first.containers.remove((await first.row('rover')).container_id ?? '')
    await until(async () => (await first.row('rover')).status === 'exited', 'the end is recorded')
    await forget(first)
    await first.clock.advance(restartGraceMs / 1000)
    await first.area.lifecycle.repair()
    await until(async () => (await first.row('rover')).status === 'running', 'it runs again')
    for (const name of ['scout', 'rover']) assert.equal((await first.row(name)).engine_id, 'a')
    assert.equal((await first.row('scout')).container_id, running)
    // The container that was removed by hand is created again on the old volumes.
    const { container_id: recreated } = await first.row('rover')
    assert.equal((await first.containers.inspect(recreated ?? ''))?.status, 'running')
    await second.area.lifecycle.repair()
    assert.deepEqual(await second.containers.list(), [])
  })

  test('a machine without any other replica never creates an agent of a machine that is away', async () => {
    const db = await open()
    const alone = [{ engine_id: 'b', host_name: 'host-b' }]
    const { here, there } = await twoMachines(db, alone)
    await using first = here
    await using second = there
    const owner = await first.person()
    for (const name of ['scout', 'rover']) await first.request(owner.key, 'POST', '/api/agents', { name })
    // Of a stopped agent that was renamed, only the volumes are left.
    await first.clock.advance(1)
    await first.request(owner.key, 'POST', '/api/agents/rover/stop')
    await agentStore(db).update((await first.row('rover')).id, { container_id: null })
    await forget(second)
    await second.area.lifecycle.repair()
    for (const name of ['scout', 'rover']) {
      const reply = await second.request(owner.key, 'POST', `/api/agents/${name}/start`)
      assert.equal(reply.status, 500)
      assert.match(reply.json.detail, /see ROOST_ADOPT_ENGINE/)
    }
    assert.deepEqual(await second.containers.list(), [])
    assert.deepEqual(await second.containers.listVolumes(), [])
    assert.equal((await first.row('scout')).status, 'running')
  })

  test('an agent that never ran starts on any machine, which then has it', async () => {
    const db = await open()
    const { here, there } = await twoMachines(db)
    await using first = here
    await using second = there
    const owner = await first.person()
    await first.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
    const { id, container_id, created } = await first.row('scout')
    await agentStore(db).update(id, {
      ...{ container_id: null, applied: null, status: 'stopped', observed_at: created },
    })
    await forget(first)
    await first.containers.remove(container_id ?? '')
    for (const volume of await first.containers.listVolumes()) await first.containers.removeVolume(volume)
    await refresh(second)
    await second.area.lifecycle.repair()
    assert.deepEqual(
      [(await second.row('scout')).engine_id, (await second.row('scout')).status],
      ['b', 'running'],
    )
    await first.area.lifecycle.repair()
    assert.deepEqual(await first.containers.list(), [])
  })

  test('with a database of one machine, agents without container and volumes are created again', async () => {
    const shared = createShared({ engineId: 'new' })
    await using world = await openAgents(await open(), { shared, isOnlyMachine: true })
    const owner = await world.person()
    await world.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
    await world.containers.remove((await world.row('scout')).container_id ?? '')
    for (const volume of await world.containers.listVolumes()) await world.containers.removeVolume(volume)
    await until(async () => (await world.row('scout')).status === 'exited', 'the end is recorded')
    await forget(world)
    await world.clock.advance(restartGraceMs / 1000)
    await world.area.lifecycle.repair()
    await until(async () => (await world.row('scout')).status === 'running', 'it runs again')
    assert.deepEqual(
      (await world.containers.list()).map(({ status }) => status),
      ['running'],
    )
    assert.equal((await world.row('scout')).engine_id, 'new')
  })

  test('a leftover without an engine waits for the machine that has it', async () => {
    const db = await open()
    const { here, there } = await twoMachines(db)
    await using first = here
    await using second = there
    const owner = await first.person()
    await first.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
    const volumes = await first.containers.listVolumes()
    // A reader on the other machine has an empty copy of the folder that scout shares.
    const shared = volumes.find((volume) => volume.endsWith('-shared')) ?? assert.fail('no shared volume')
    await second.containers.createVolume(shared, {})
    await second.request(owner.key, 'DELETE', '/api/agents/scout')
    await db.atomically((tx) => agentStore(tx).forgetEngines())
    await second.area.lifecycle.repair()
    assert.equal((await agentStore(db).leftovers()).length, 1)
    assert.deepEqual(await first.containers.listVolumes(), volumes)
    // A removal that fails halfway is completed by the next pass.
    first.engine.failNext('removeVolume', 'volume_in_use')
    await first.area.lifecycle.repair()
    assert.deepEqual(
      (await agentStore(db).leftovers()).map(({ engine_id }) => engine_id),
      ['a'],
    )
    await first.area.lifecycle.repair()
    assert.deepEqual(await agentStore(db).leftovers(), [])
    assert.deepEqual(await first.containers.list(), [])
    assert.deepEqual(await first.containers.listVolumes(), [])
  })

  test('a returning machine stops the containers of agents that another one adopted', async () => {
    const db = await open()
    const { here, there } = await twoMachines(db)
    await using first = here
    await using second = there
    const owner = await first.person()
    await first.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
    const old = (await first.row('scout')).container_id ?? ''
    await db.atomically((tx) => agentStore(tx).moveToEngine('a', 'b'))
    await refresh(second)
    await second.area.lifecycle.repair()
    await refresh(first)
    await first.area.lifecycle.repair()
    assert.equal((await first.containers.inspect(old))?.status, 'stopped')
    assert.equal((await first.containers.listVolumes()).length, 3)
    const { container_id, status } = await second.row('scout')
    assert.equal((await second.containers.inspect(container_id ?? ''))?.status, 'running')
    assert.equal(status, 'running')
  })

  test('the recorded container keeps running when the identity of its engine has changed', async () => {
    const db = await open()
    const { here } = await twoMachines(db)
    await using first = here
    const owner = await first.person()
    await first.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
    const { id, container_id } = await first.row('scout')
    await agentStore(db).update(id, { engine_id: 'former' })
    await refresh(first)
    await first.area.lifecycle.repair()
    assert.equal((await first.containers.inspect(container_id ?? ''))?.status, 'running')
  })

  test('the agents of a lost engine get new containers on the machine that adopts it', async () => {
    const db = await open()
    const { here, there } = await twoMachines(db)
    await using first = here
    await using second = there
    const owner = await first.person()
    await first.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
    assert.equal(await db.atomically((tx) => agentStore(tx).moveToEngine('a', 'b')), 1)
    await second.area.agentRecords.everyRow()
    await second.area.lifecycle.repair()
    assert.deepEqual(
      (await second.containers.list()).map(({ name, status }) => [name, status]),
      [['agent-scout', 'running']],
    )
  })
})

/** As after an upgrade or a restore. */
async function forget(world: AgentsWorld) {
  await world.db.atomically((tx) => agentStore(tx).forgetEngines())
  await refresh(world)
}

/** Another process changed the rows. */
async function refresh({ db, area }: AgentsWorld) {
  const ids = (await agentStore(db).all()).map(({ id }) => id)
  area.agentRecords.markStale(ids)
}

async function twoMachines(db: TestDb, engines = usedEngines) {
  const shared = createShared({ engineId: 'a' })
  const others = { ...shared, engine: createShared({ engineId: 'b' }).engine }
  return {
    here: await openAgents(db, { shared, usedEngines: engines }),
    there: await openAgents(await db.openAgain(), { shared: others, usedEngines: engines }),
  }
}
