import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reasonWords } from './words.ts'

test('a reason is told in words, with the facts it carries and what may be done', () => {
  assert.equal(reasonWords('agent_not_running').title, 'The agent was stopped')
  assert.deepEqual(reasonWords('git_sync_frozen: 3 failed syncs'), {
    title: 'Schedules are frozen because the git sync keeps failing (3 failed syncs)',
    hint: 'They go on after a sync succeeds.',
  })
  assert.match(
    reasonWords('outside_grace: 12 fires since 2026-01-01T00:00:00.000Z').title,
    /^The scheduler was away for over an hour \(12 fires since/,
  )
})

test('a reason that is not known is shown as it is', () => {
  assert.deepEqual(reasonWords('something_new: 4'), { title: 'something_new: 4' })
})
