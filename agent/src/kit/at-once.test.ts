import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce } from './at-once.ts'

test('results are in the order of the items, and at most so many are worked on', async () => {
  let active = 0
  let most = 0
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const all = atOnce([0, 1, 2, 3, 4], 2, async (item) => {
    active += 1
    most = Math.max(most, active)
    await gates[item]?.promise
    active -= 1
    return item * 10
  })
  for (const gate of gates.toReversed()) gate.resolve()
  assert.deepEqual([await all, most], [[0, 10, 20, 30, 40], 2])
  assert.deepEqual(await atOnce([], 2, async () => 1), [])
})

test('the first failure is the result', async () => {
  await assert.rejects(
    atOnce([1, 2, 3], 2, async (item) => {
      if (item === 2) throw new Error('two')
    }),
    /two/,
  )
})
