import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestDatabase } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'

test('taking a run in asks the database nothing about its agent, however long nobody asked', async () => {
  const db = await openTestDatabase()
  let asked = 0
  const counted = {
    ...db,
    withTables: <Tables>() => {
      asked += 1
      return db.withTables<Tables>()
    },
  }
  await using world = await openAgents(counted)
  const owner = await world.person()
  await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
  const { id } = await world.row('helper')
  const first = await world.area.facts.find(id)
  world.clock.set(new Date(world.clock.now().getTime() + 10_000))
  asked = 0
  assert.deepEqual(await world.area.facts.find(id), first)
  assert.equal(asked, 0)
  assert.equal((await world.area.facts.settings(id))?.agent_name, 'helper')
  assert.ok(asked > 0)
})
