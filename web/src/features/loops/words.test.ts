import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stopReasons } from '@roost/contracts/runs/loops'
import { stopWords } from './words.ts'

const loop = {
  max_runs: 5,
  stop_signal: 'DONE',
  max_cost_usd: 2,
  max_duration_seconds: 3600,
  no_progress_threshold: 3,
}

test('every reason is told with the limit that was met', () => {
  assert.deepEqual(
    stopReasons.map((stop_reason) => stopWords({ ...loop, stop_reason })),
    [
      'All of its 5 runs were made.',
      'A reply contained “DONE”.',
      'A person stopped it.',
      'Its time of 1h was over.',
      'Its budget of $2.00 was spent.',
      '3 replies in a row were the same.',
      'A run failed.',
      'The platform was interrupted.',
    ],
  )
  assert.equal(stopWords({ ...loop, stop_reason: null }), null)
})
