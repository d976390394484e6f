import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reasonWords } from './words.ts'

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
