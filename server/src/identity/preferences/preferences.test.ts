import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { faultOf, outcomes } from '../test/fault-of.ts'
import { openIdentity } from '../test/fixture.ts'
import { createPreferences } from './index.ts'

forEachDialect((_name, open) => {
  async function start() {
    const db = await open()
    const identity = await openIdentity(db)
    const { id: ann } = await identity.addUser()
    const { id: bob } = await identity.addUser()
    const clock = createTestClock('2030-01-01T00:00:00.000Z')
    return {
      preferences: createPreferences({ db, clock }),
      ann,
      bob,
      [Symbol.asyncDispose]: async () => {
        await identity[Symbol.asyncDispose]()
        await db[Symbol.asyncDispose]()
      },
    }
  }

  test('any JSON is stored per person and key', async () => {
    await using it = await start()
    const { preferences, ann, bob } = it
    for (const value of ['dark', { columns: ['name', 'cost'] }, [1, null], null, 0, false])
      assert.deepEqual((await preferences.put(ann, 'view', { value, base: null })).value, value)
    await preferences.put(ann, 'a', { value: 1, base: null })
    assert.deepEqual(
      (await preferences.list(ann)).map(({ key, value }) => [key, value]),
      [
        ['a', 1],
        ['view', false],
      ],
    )
    assert.deepEqual(await preferences.list(bob), [])
    assert.equal(await faultOf(preferences.get(bob, 'a')), 'not_found')
    assert.equal(await faultOf(preferences.remove(bob, 'a')), 'not_found')
    await preferences.remove(ann, 'a')
    assert.equal(await faultOf(preferences.get(ann, 'a')), 'not_found')
  })

  test('409 with the current value for a change based on an older one', async () => {
    await using it = await start()
    const { preferences, ann } = it
    const first = await preferences.put(ann, 'view', { value: 1, base: null })
    const second = await preferences.put(ann, 'view', { value: 2, base: first.updated_at })
    assert.ok(second.updated_at > first.updated_at, 'although the clock did not move')
    await assert.rejects(preferences.put(ann, 'view', { value: 3, base: first.updated_at }), (error) => {
      assert.ok(isFault(error, 'stale_value'))
      assert.deepEqual(error.fields.current, second)
      return true
    })
    const put = preferences.put(ann, 'other', { value: 1, base: first.updated_at })
    assert.equal(await faultOf(put), 'stale_value')
  })

  test('of twenty concurrent changes of one value, one succeeds; without a base all do', async () => {
    await using it = await start()
    const { preferences, ann } = it
    const { updated_at } = await preferences.put(ann, 'view', { value: 0, base: null })
    const all = (base: string | null) =>
      outcomes(Array.from({ length: 20 }, (_, value) => preferences.put(ann, 'view', { value, base })))
    assert.deepEqual(await all(updated_at), { none: 1, stale_value: 19 })
    assert.deepEqual(await all(null), { none: 20 })
  })
})
