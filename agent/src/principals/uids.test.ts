import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { principalBase } from '../processes/identity.ts'
import { makeTestHome } from '../test/home.ts'
import { openUids } from './uids.ts'

const first = principalBase + 1

test('a principal gets its uid after a failed write, and no other one gets it', async () => {
  using place = makeTestHome()
  const file = join(place.root, 'principals.json')
  const uids = await openUids(file, place.root)
  // In the way of the next write.
  mkdirSync(`${file}.part`)
  for (const failed of await Promise.allSettled([uids.of('one'), uids.of('one'), uids.of('two')]))
    assert.equal(failed.status, 'rejected')
  rmdirSync(`${file}.part`)
  assert.equal(await uids.of('one'), first)
  assert.equal(await uids.of('two'), first + 1)
  const stored = await openUids(file, place.root)
  assert.deepEqual([await stored.of('two'), await stored.of('one')], [first + 1, first])
})

test('principals keep their uids while a write for another one fails', async () => {
  using place = makeTestHome()
  const file = join(place.root, 'principals.json')
  const uids = await openUids(file, place.root)
  assert.equal(await uids.of('one'), first)
  mkdirSync(`${file}.part`)
  const failed = uids.of('two')
  assert.equal(await uids.of('one'), first)
  await assert.rejects(failed)
  assert.equal(await uids.of('one'), first)
})

test('a uid is stored before it is used, and runs of one principal share it', async () => {
  using place = makeTestHome()
  const file = join(place.root, 'principals.json')
  const uids = await openUids(file, place.root)
  const found = await Promise.all(['one', 'two', 'one', 'three', 'one'].map(uids.of))
  assert.deepEqual(found, [first, first + 1, first, first + 2, first])
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { one: first, two: first + 1, three: first + 2 })
})
