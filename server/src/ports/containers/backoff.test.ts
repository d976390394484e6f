import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryDelayMs } from './backoff.ts'

test('delays double up to a limit and are at least half of the full delay', () => {
  const delays = [0, 1, 2, 7, 8, 1000].map((attempt) => retryDelayMs(attempt, () => 1))
  assert.deepEqual(delays, [100, 200, 400, 12_800, 15_000, 15_000])
  assert.equal(
    retryDelayMs(0, () => 0),
    50,
  )
})
