import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inWorker, TooComplex } from './in-worker.ts'

/** A limit that no working call reaches on a busy machine. */
const generous = 60_000
const module = new URL(
  `data:text/javascript,${encodeURIComponent(`export const work = (text) => {
    if (text === 'throw') throw new Error('not parsed')
    while (text === 'forever');
    const rows = []
    while (text === 'fill') rows.push(new Array(1e6).fill(0.5))
    return text.toUpperCase()
  }`)}`,
)

test('returns what the function returns, also for calls at the same time', async () => {
  const work = inWorker<string>(module, 'work', generous)
  assert.deepEqual(await Promise.all(['a', 'b', 'c', 'd'].map(work)), ['A', 'B', 'C', 'D'])
})

test('a text on which the function throws or fills the memory fails alone', async () => {
  const work = inWorker<string>(module, 'work', generous)
  const outcomes = await Promise.allSettled(['throw', 'fill', 'after'].map(work))
  assert.deepEqual(
    outcomes.map((each) => (each.status === 'fulfilled' ? each.value : each.reason instanceof TooComplex)),
    [true, true, 'AFTER'],
  )
})

test('a text that takes longer than the limit is given up', async () => {
  await assert.rejects(inWorker(module, 'work', 50)('forever'), TooComplex)
})
