import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listProblems, unlisted } from './unstable.ts'

const now = new Date('2026-03-20T12:00:00Z')
const entry = { file: 'checks/browser/chat.test.ts', since: '2026-03-06', reason: 'Waits for a timer.' }

test('an entry is accepted for 14 days and refused on the day after', () => {
  assert.deepEqual(listProblems([entry], now), [])
  const [problem] = listProblems([{ ...entry, since: '2026-03-05' }], now)
  assert.match(problem ?? '', /chat\.test\.ts is listed for 15 days/)
})

test('an entry without a date or a reason, or with a date to come, is refused', () => {
  for (const broken of [
    { ...entry, since: 'today' },
    { ...entry, reason: ' ' },
    { ...entry, since: '2026-04-01' },
    'x',
  ])
    assert.equal(listProblems([broken], now).length, 1)
  assert.equal(listProblems({}, now).length, 1)
})

test('a file that passed only in its second run must be listed', () => {
  assert.deepEqual(unlisted([entry.file], [entry]), [])
  assert.deepEqual(unlisted([entry.file, 'server/src/a.test.ts'], [entry]), ['server/src/a.test.ts'])
})
