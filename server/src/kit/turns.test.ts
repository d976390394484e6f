import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns, createTurnsByKey } from './turns.ts'

test('work is limited to the given concurrency and continues in order, even after a failure', async () => {
  const inTurn = createTurns(2)
  const started: number[] = []
  let running = 0
  let maxRunning = 0
  const gates = Array.from({ length: 6 }, () => Promise.withResolvers<void>())
  const all = gates.map((gate, index) =>
    inTurn(async () => {
      started.push(index)
      running += 1
      maxRunning = Math.max(maxRunning, running)
      await gate.promise
      running -= 1
      if (index === 1) throw new Error('fails')
      return index
    }),
  )
  assert.deepEqual(started, [0, 1])
  for (const gate of gates) gate.resolve()
  const results = await Promise.allSettled(all)
  assert.deepEqual(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'fulfilled'],
  )
  assert.deepEqual(started, [0, 1, 2, 3, 4, 5])
  assert.equal(maxRunning, 2)
  assert.equal(await inTurn(async () => 'free again'), 'free again')
})

test('work of one key runs in order, even after a failure; other keys do not wait', async () => {
  const turns = createTurnsByKey()
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const first = turns('a', async () => {
    await gate.promise
    order.push('first')
    throw new Error('it went wrong')
  })
  const second = turns('a', async () => void order.push('second'))
  await turns('b', async () => void order.push('other'))
  gate.resolve()
  await assert.rejects(first, /went wrong/)
  await second
  assert.deepEqual(order, ['other', 'first', 'second'])
})
