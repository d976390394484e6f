import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestDatabase } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'

test('accepting a run does not query the database for its agent, even with an old cache', async () => {
  const db = await openTestDatabase()
  let queries = 0
  const counted = {
    ...db,
    withTables: <Tables>() => {
      queries += 1
      return db.withTables<Tables>()
    },
  }
  await using world = await openAgents(counted)
  const owner = await world.person()
  await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
  const { id } = await world.row('helper')
  const first = await world.area.runContexts.find(id)
  world.clock.set(new Date(world.clock.now().getTime() + 10_000))
  queries = 0
  assert.deepEqual(await world.area.runContexts.find(id), first)
  assert.equal(queries, 0)
  assert.equal((await world.area.runContexts.settings(id))?.agent_name, 'helper')
  assert.ok(queries > 0)
})
