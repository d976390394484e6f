import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeWords, distanceWords } from './words.ts'

test('lines of `git status` become a change and a path', () => {
  assert.deepEqual(changeWords('?? notes.txt'), { what: 'new', path: 'notes.txt' })
  assert.deepEqual(changeWords(' M a b.md'), { what: 'changed', path: 'a b.md' })
  assert.deepEqual(changeWords('D  gone.txt'), { what: 'deleted', path: 'gone.txt' })
  assert.deepEqual(changeWords('odd'), { what: 'changed', path: 'odd' })
})

test('describes the difference between local and remote commits', () => {
  assert.equal(distanceWords(null, 0), null)
  assert.equal(distanceWords(0, 0), 'up to date')
  assert.equal(distanceWords(2, 1), '2 to push, 1 to pull')
})
