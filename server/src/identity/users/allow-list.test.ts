import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { faultOf, outcomes } from '../test/fault-of.ts'
import { createAllowList } from './allow-list.ts'

const email = 'ann@example.com'
const request = { email, default_role: 'creator', added_by: 'admin' } as const

forEachDialect((_name, open) => {
  async function start() {
    const db = await open()
    const clock = createTestClock('2030-01-01T00:00:00.000Z')
    const allowList = createAllowList({ db, clock })
    return { db, clock, allowList, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() }
  }

  test('an address is listed once, newest first, until it is removed', async () => {
    await using it = await start()
    const { id, ...entry } = await it.allowList.add(request)
    assert.ok(id)
    assert.deepEqual(entry, { ...request, source: 'manual', added_at: '2030-01-01T00:00:00.000Z' })
    assert.equal(await faultOf(it.allowList.add(request)), 'already_exists')
    await it.clock.advance(1)
    await it.allowList.add({ ...request, email: 'bob@example.com' })
    assert.deepEqual(
      (await it.allowList.list()).map((each) => each.email),
      ['bob@example.com', email],
    )
    await it.allowList.remove('ANN@example.com')
    assert.equal(await faultOf(it.allowList.remove(email)), 'not_found')
    assert.equal(await it.allowList.find(it.db, email), null)
  })

  test('of twenty concurrent additions of one address, one succeeds', async () => {
    await using it = await start()
    const found = await outcomes(Array.from({ length: 20 }, () => it.allowList.add(request)))
    assert.deepEqual(found, { already_exists: 19, none: 1 })
  })

  test('allowing an address that is listed does not change its entry', async () => {
    await using it = await start()
    await it.allowList.add(request)
    const { allowList, db } = it
    const share = (address: string) =>
      db.atomically((tx) => allowList.allowAddress(tx, address, 'zoe', 'agent_sharing'))
    assert.equal(await share('Ann@Example.com'), false)
    assert.equal((await allowList.find(db, email))?.default_role, 'creator')
    assert.equal(await share('Cid@Example.com '), true)
    const shared = await allowList.find(db, 'cid@example.com')
    assert.deepEqual(
      [shared?.default_role, shared?.source, shared?.added_by],
      ['user', 'agent_sharing', 'zoe'],
    )
  })

  test('allowing an address is rolled back with its transaction', async () => {
    await using it = await start()
    const undone = it.db.atomically(async (tx) => {
      await it.allowList.allowAddress(tx, email, null, 'agent_sharing')
      throw new Error('undone')
    })
    await assert.rejects(undone, /undone/)
    assert.deepEqual(await it.allowList.list(), [])
  })
})
