import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryDelayMs } from './backoff.ts'

test('waits double up to a bound, and at least half of each is waited', () => {
  const longest = [0, 1, 2, 7, 8, 1000].map((attempt) => retryDelayMs(attempt, () => 1))
  assert.deepEqual(longest, [100, 200, 400, 12_800, 15_000, 15_000])
  assert.equal(
    retryDelayMs(0, () => 0),
    50,
  )
})
