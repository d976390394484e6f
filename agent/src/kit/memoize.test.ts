import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoize } from './memoize.ts'

test('work runs once for all callers, and again after a failure', async () => {
  let calls = 0
  const get = memoize(async () => {
    calls += 1
    if (calls === 1) throw new Error('disk full')
    return calls
  })
  const failed = await Promise.allSettled([get(), get()])
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.deepEqual(await Promise.all([get(), get()]), [2, 2])
  assert.equal(await get(), 2)
})
