import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterIt, inOrder, neighbour } from './order.ts'

const item = (
  id: string,
  priority: 'critical' | 'low',
  created_at: string,
  status: 'pending' | 'expired',
) => ({
  id,
  priority,
  created_at,
  status,
})

test('what waits comes by urgency and then by age, what is over the newest first', () => {
  const items = [
    item('over-old', 'critical', '2026-01-01', 'expired'),
    item('low-new', 'low', '2026-01-04', 'pending'),
    item('over-new', 'low', '2026-01-05', 'expired'),
    item('low-old', 'low', '2026-01-02', 'pending'),
    item('critical', 'critical', '2026-01-05', 'pending'),
  ]
  assert.deepEqual(
    inOrder(items).map(({ id }) => id),
    ['critical', 'low-old', 'low-new', 'over-new', 'over-old'],
  )
})

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
