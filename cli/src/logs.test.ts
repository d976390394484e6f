import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newLines } from './logs.ts'

test('lines behind those that were there are new, equal ones among them too', () => {
  assert.deepEqual(newLines(['a', 'b'], ['a', 'b', 'c']), ['c'])
  assert.deepEqual(newLines(['a', 'b'], ['b', 'c', 'd']), ['c', 'd'])
  assert.deepEqual(newLines(['a', 'a'], ['a', 'a', 'a']), [])
  assert.deepEqual(newLines([], ['a']), ['a'])
})
test('a log that began anew is new', () => assert.deepEqual(newLines(['a', 'b'], ['x', 'y']), ['x', 'y']))
