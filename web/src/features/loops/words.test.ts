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

test('each stop reason names the reached limit', () => {
  assert.deepEqual(
    stopReasons.map((stop_reason) => stopWords({ ...loop, stop_reason })),
    [
      'Reached its maximum of 5 runs.',
      'A reply contained the stop phrase “DONE”.',
      'Stopped by a user.',
      'Reached its deadline of 1h.',
      'Reached its budget of $2.00.',
      '3 consecutive replies were equal.',
      'A run failed.',
      'Interrupted by a restart of the platform.',
    ],
  )
  assert.equal(stopWords({ ...loop, stop_reason: null }), null)
})
