import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterIt, between, neighbour } from './order.ts'

test('after one is answered the next is shown, at the end the one before', () => {
  assert.equal(afterIt(['a', 'b', 'c'], 'b'), 'c')
  assert.equal(afterIt(['a', 'b', 'c'], 'c'), 'b')
  assert.equal(afterIt(['a'], 'a'), null)
})

test('the keys go through the list and stay within it', () => {
  assert.equal(neighbour(['a', 'b'], 'a', 1), 'b')
  assert.equal(neighbour(['a', 'b'], 'b', 1), 'b')
  assert.equal(neighbour(['a', 'b'], 'a', -1), 'a')
  assert.equal(neighbour(['a', 'b'], null, -1), 'a')
  assert.equal(neighbour(['a', 'b'], 'gone', 1), 'a')
  assert.equal(neighbour([], null, 1), null)
})

test('a range goes from the one that was marked last, in either direction', () => {
  const ids = ['a', 'b', 'c', 'd']
  assert.deepEqual(between(ids, 'b', 'd'), ['b', 'c', 'd'])
  assert.deepEqual(between(ids, 'c', 'a'), ['a', 'b', 'c'])
  assert.deepEqual(between(ids, null, 'c'), ['c'])
  assert.deepEqual(between(ids, 'gone', 'c'), ['c'])
})
