import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { agentStore } from '../records/index.ts'
import { type AgentsWorld, createShared, openAgents, until } from '../test/world.ts'

/** Creates an agent on port 2222 and returns its owner. */
async function createHelper(world: AgentsWorld) {
  const owner = await world.person()
  assert.equal((await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })).json.port, 2222)
  return owner
}

/** Asserts that the agent's row and its only container have the new port, and that the old one is free. */
async function assertMoved(world: AgentsWorld, name: string, port: number) {
  const { container_id, ...agent } = await world.row(name)
  assert.equal(agent.port, port)
  const [state, ...more] = await world.containers.list()
  assert.deepEqual([state?.id, state?.status, more], [container_id, 'running', []])
  assert.equal(state?.labels['roost.ssh-port'], String(port))
  assert.deepEqual(await agentStore(world.db).usedPorts(), new Set(port === 0 ? [] : [port]))
  assert.deepEqual(await world.lastEvent('agent.settings_changed'), { setting: 'port' })
}

forEachDialect((_name, open) => {
  test('a port used by another program is skipped', async () => {
    await using world = await openAgents(await open())
    const owner = await world.person()
    world.engine.failNext('start', 'port_taken')
    const reply = await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
    assert.equal(reply.status, 200)
    assert.equal(reply.json.port, 2223)
    const [state] = await world.containers.list()
    assert.equal(state?.labels['roost.ssh-port'], '2223')
    assert.deepEqual(await world.eventTypes(), ['agent.created'])
  })

  test('200 start: a port that is now in use is replaced by the next, in row, event and reply', async () => {
    await using world = await openAgents(await open())
    const owner = await createHelper(world)
    await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    world.engine.failNext('start', 'port_taken')
    const { status, json } = await world.request(owner.key, 'POST', '/api/agents/helper/start')
    assert.deepEqual(
      [status, json.port, json.recreated, json.recreate_reason],
      [200, 2223, true, 'ssh_port'],
      JSON.stringify(json),
    )
    await assertMoved(world, 'helper', 2223)
    assert.equal((await world.lastEvent('agent.started')).port, 2223)
    const again = await world.request(owner.key, 'POST', '/api/agents/helper/start')
    assert.deepEqual([again.json.port, again.json.recreate_reason], [2223, null])
  })

  test('starts without SSH if no other port is free', async () => {
    await using world = await openAgents(await open(), { sshPorts: { first: 2222, last: 2222 } })
    const owner = await createHelper(world)
    await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    world.engine.failNext('start', 'port_taken')
    const { status, json } = await world.request(owner.key, 'POST', '/api/agents/helper/start')
    assert.deepEqual([status, json.port], [200, 0])
    await assertMoved(world, 'helper', 0)
  })

  test('renaming and recreating also find another port', async () => {
    await using world = await openAgents(await open())
    const owner = await createHelper(world)
    world.engine.failNext('start', 'port_taken')
    const body = { new_name: 'renamed' }
    assert.equal((await world.request(owner.key, 'PUT', '/api/agents/helper/rename', body)).status, 200)
    await assertMoved(world, 'renamed', 2223)
    world.engine.failNext('start', 'port_taken')
    assert.equal(
      await world.area.lifecycle.renew((await world.row('renamed')).id, async () => {}),
      'recreated',
    )
    await assertMoved(world, 'renamed', 2224)
  })

  test('a port that was found in use is tried again after an hour, or when no other is free', async () => {
    await using world = await openAgents(await open(), { sshPorts: { first: 2222, last: 2224 } })
    const { clock } = world
    const owner = await world.person()
    const portOf = async (name: string) =>
      (await world.request(owner.key, 'POST', '/api/agents', { name })).json.port
    world.engine.failNext('start', 'port_taken')
    assert.deepEqual([await portOf('a'), await portOf('b')], [2223, 2224])
    assert.equal(await portOf('c'), 2222)
    await world.request(owner.key, 'DELETE', '/api/agents/c')
    await world.request(owner.key, 'DELETE', '/api/agents/b')
    assert.equal(await portOf('d'), 2224)
    await world.request(owner.key, 'DELETE', '/api/agents/d')
    await clock.advance(3600)
    assert.equal(await portOf('e'), 2222)
  })

  test('an agent restarted by the platform finds another port', async () => {
    const db = await open()
    const again = await db.openAgain()
    const shared = createShared()
    const before = await openAgents(db, { shared })
    await createHelper(before)
    const { container_id } = await before.row('helper')
    await before[Symbol.asyncDispose]()
    await shared.engine.containers('test').stop(container_id ?? '', 0)
    shared.engine.failNext('start', 'port_taken')
    await shared.clock.advance(60)
    await using world = await openAgents(again, { shared })
    await until(async () => (await world.row('helper')).port === 2223, 'it has another port')
    await world.area.lifecycle.repair()
    await assertMoved(world, 'helper', 2223)
  })
})
