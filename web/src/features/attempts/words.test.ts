import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesText, checkWord } from './words.ts'

test('a check that was killed has no exit code, and one that was too slow is not called failed', () => {
  const result = { output: '', truncated: false, duration_ms: 1 }
  const words = [
    { exit_code: 0, timed_out: false },
    { exit_code: 2, timed_out: false },
    { exit_code: null, timed_out: false },
    { exit_code: null, timed_out: true },
  ].map((each) => checkWord({ check: { ...result, ...each } })?.word)
  assert.deepEqual(words, ['Passed', 'Exit code 2', 'No exit code', 'Timed out'])
  assert.equal(checkWord({ check: null }), null)
})

test('only counts above 0 are named', () => {
  assert.equal(
    changesText({ changes: { added: 2, changed: 0, deleted: 1, renamed: 0 } }),
    '2 added, 1 deleted',
  )
  assert.equal(changesText({ changes: { added: 0, changed: 0, deleted: 0, renamed: 0 } }), 'None')
  assert.equal(changesText({ changes: null }), '')
})
