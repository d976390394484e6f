import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect, type TestDb } from '../../test/dialects.ts'
import { agentStore } from '../records/index.ts'
import { createShared, openAgents } from '../test/world.ts'

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

async function twoMachines(db: TestDb) {
  const shared = createShared({ engineId: 'a' })
  const others = { ...shared, engine: createShared({ engineId: 'b' }).engine }
  return {
    here: await openAgents(db, { shared, usedEngines }),
    there: await openAgents(await db.openAgain(), { shared: others, usedEngines }),
  }
}
