import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newLines } from './logs.ts'

test('only lines after the known ones are new, even when equal lines repeat', () => {
  assert.deepEqual(newLines(['a', 'b'], ['a', 'b', 'c']), ['c'])
  assert.deepEqual(newLines(['a', 'b'], ['b', 'c', 'd']), ['c', 'd'])
  assert.deepEqual(newLines(['a', 'a'], ['a', 'a', 'a']), [])
  assert.deepEqual(newLines([], ['a']), ['a'])
})
test('every line of a restarted log is new', () =>
  assert.deepEqual(newLines(['a', 'b'], ['x', 'y']), ['x', 'y']))
