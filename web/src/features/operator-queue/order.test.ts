import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterIt, between, neighbour } from './order.ts'

test('after an answer the next item is shown, at the end the previous one', () => {
  assert.equal(afterIt(['a', 'b', 'c'], 'b'), 'c')
  assert.equal(afterIt(['a', 'b', 'c'], 'c'), 'b')
  assert.equal(afterIt(['a'], 'a'), null)
})

test('the keys move through the list and stop at its ends', () => {
  assert.equal(neighbour(['a', 'b'], 'a', 1), 'b')
  assert.equal(neighbour(['a', 'b'], 'b', 1), 'b')
  assert.equal(neighbour(['a', 'b'], 'a', -1), 'a')
  assert.equal(neighbour(['a', 'b'], null, -1), 'a')
  assert.equal(neighbour(['a', 'b'], 'gone', 1), 'a')
  assert.equal(neighbour([], null, 1), null)
})

test('a range starts at the last selected item, in either direction', () => {
  const ids = ['a', 'b', 'c', 'd']
  assert.deepEqual(between(ids, 'b', 'd'), ['b', 'c', 'd'])
  assert.deepEqual(between(ids, 'c', 'a'), ['a', 'b', 'c'])
  assert.deepEqual(between(ids, null, 'c'), ['c'])
  assert.deepEqual(between(ids, 'gone', 'c'), ['c'])
})
