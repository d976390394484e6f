import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHeap } from './heap.ts'

test('a thousand items come out in order, whatever order they were put in', () => {
  const heap = createHeap<{ at: number }>()
  // A fixed permutation: 7919 and 1000 are coprime.
  for (let index = 0; index < 1000; index += 1) heap.put({ at: (index * 7919) % 1000 })
  const out = Array.from({ length: 1000 }, () => heap.take()?.at)
  assert.deepEqual(
    out,
    Array.from({ length: 1000 }, (_, index) => index),
  )
  assert.deepEqual([heap.size, heap.first(), heap.take()], [0, undefined, undefined])
})
