import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reasonWords, weekWords } from './words.ts'

test('describes a reason with its details and a hint', () => {
  assert.equal(reasonWords('agent_not_running').title, 'The agent was stopped')
  assert.deepEqual(reasonWords('git_sync_frozen: 3 failed syncs'), {
    title: 'Schedules are frozen because the git sync keeps failing (3 failed syncs)',
    hint: 'Schedules resume after a successful sync.',
  })
  assert.match(
    reasonWords('outside_grace: 12 fires since 2026-01-01T00:00:00.000Z').title,
    /^The scheduler was not running for more than 1 hour \(12 fires since/,
  )
})

test('an unknown reason is shown unchanged', () => {
  assert.deepEqual(reasonWords('something_new: 4'), { title: 'something_new: 4' })
})

test('the runs of a week are described by outcome, so a cancelled run is not part of 100%', () => {
  const none = { run_count: 0, success_count: 0, failed_count: 0, cancelled_count: 0 }
  const table: [counts: Partial<typeof none>, text: string | null, tone?: 'neutral' | 'danger'][] = [
    [{ run_count: 2, success_count: 2 }, 'all succeeded'],
    [{ run_count: 2, success_count: 1, cancelled_count: 1 }, '1 cancelled, 1 succeeded'],
    [{ run_count: 2, success_count: 1, failed_count: 1 }, '1 failed, 1 succeeded', 'danger'],
    [{ run_count: 9, success_count: 8, failed_count: 1 }, '1 failed, 8 succeeded'],
    [
      { run_count: 3, success_count: 1, failed_count: 1, cancelled_count: 1 },
      '1 failed, 1 cancelled',
      'danger',
    ],
    [{ run_count: 2, success_count: 1 }, '1 succeeded'],
    [{ run_count: 1 }, null],
  ]
  for (const [counts, text, tone = 'neutral'] of table)
    assert.deepEqual(weekWords({ ...none, ...counts }), text === null ? null : { text, tone })
})
