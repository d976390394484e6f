import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { createShared, openAgents } from '../test/world.ts'
import { agentStore } from './store.ts'

forEachDialect((_name, open) => {
  test('a read that starts after a commit sees it, with concurrent reads and writes', async () => {
    await using world = await openAgents(await open())
    const owner = await world.person()
    await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
    const { agentRecords } = world.area
    const { id } = await world.row('helper')
    let written = 0
    const write = async () => {
      for (let n = 0; n < 25; n += 1) {
        await world.db.atomically(async (tx) => {
          const label = String((await agentStore(tx).byId(id))?.label ?? 0)
          await agentStore(tx).update(id, { label: String(Number(label) + 1) })
          agentRecords.changed(tx, id)
        })
        written += 1
      }
    }
    const read = async () => {
      for (let n = 0; n < 100; n += 1) {
        const committed = written
        const label = Number((await agentRecords.byId(id))?.label)
        assert.ok(label >= committed, `${label} is not older than ${committed}`)
      }
    }
    await Promise.all([write(), read(), read(), read()])
  })

  test('a change by another process without a message is visible once the cache expires', async () => {
    const db = await open()
    const shared = createShared()
    await using world = await openAgents(db, { shared })
    const owner = await world.person()
    await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
    const { agentRecords } = world.area
    const { id } = await world.row('helper')
    const version = await agentRecords.version()
    await agentStore(db).update(id, { label: 'silent' })
    assert.equal((await agentRecords.byId(id))?.label, null)
    world.clock.set('2030-01-01T00:00:16.000Z')
    await agentRecords.byId(id)
    while ((await agentRecords.version()) === version) await agentStore(db).byId(id)
    assert.equal((await agentRecords.byId(id))?.label, 'silent')
  })

  test('a change of an unknown agent is ignored', async () => {
    const db = await open()
    await using world = await openAgents(db)
    const { agentRecords } = world.area
    await agentRecords.all()
    await db.atomically(async (tx) => agentRecords.changed(tx, 'nobody'))
    assert.equal(await agentRecords.byId('nobody'), null)
    assert.equal((await agentRecords.all()).length, 1, 'the system agent')
  })
})
