import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns, createTurnsByKey } from './turns.ts'

test('at most so many at once, the others in the order they came, also after one that fails', async () => {
  const inTurn = createTurns(2)
  const started: number[] = []
  let running = 0
  let most = 0
  const gates = Array.from({ length: 6 }, () => Promise.withResolvers<void>())
  const all = gates.map((gate, index) =>
    inTurn(async () => {
      started.push(index)
      running += 1
      most = Math.max(most, running)
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
  assert.equal(most, 2)
  assert.equal(await inTurn(async () => 'free again'), 'free again')
})

test('work of one key follows in order, whatever becomes of it; other keys do not wait', async () => {
  const turns = createTurnsByKey()
  const held = Promise.withResolvers<void>()
  const seen: string[] = []
  const first = turns('a', async () => {
    await held.promise
    seen.push('first')
    throw new Error('it went wrong')
  })
  const second = turns('a', async () => void seen.push('second'))
  await turns('b', async () => void seen.push('other'))
  held.resolve()
  await assert.rejects(first, /went wrong/)
  await second
  assert.deepEqual(seen, ['other', 'first', 'second'])
})
