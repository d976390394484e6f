import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCache } from './cache.ts'
import type { Clock } from './clock.ts'

function setup(maxEntries = 10) {
  let at = Date.parse('2030-01-01T00:00:00Z')
  const clock: Clock = { now: () => new Date(at), wait: async () => {}, waitAbout: async () => {} }
  const loads: string[] = []
  const answers = new Map<string, string>([
    ['a', 'A'],
    ['b', 'B'],
    ['c', 'C'],
  ])
  let beforeAnswer = () => {}
  const cache = createCache<string>({
    clock,
    maxAgeSeconds: 5,
    maxEntries,
    load: async (key) => {
      loads.push(key)
      const answer = answers.get(key) ?? null
      beforeAnswer()
      return answer
    },
  })
  return {
    cache,
    loads,
    answers,
    move: (seconds: number) => {
      at += seconds * 1000
    },
    whileLoading: (act: () => void) => {
      beforeAnswer = act
    },
  }
}

test('an entry is loaded once and cached', async () => {
  const { cache, loads } = setup()
  assert.equal(await cache.get('a'), 'A')
  assert.equal(await cache.get('a'), 'A')
  assert.deepEqual(loads, ['a'])
})

test('missing entries are not cached', async () => {
  const { cache, loads, answers } = setup()
  assert.equal(await cache.get('x'), null)
  answers.set('x', 'X')
  assert.equal(await cache.get('x'), 'X')
  assert.deepEqual(loads, ['x', 'x'])
})

test('a forgotten entry is loaded again, others stay cached', async () => {
  const { cache, loads } = setup()
  await cache.get('a')
  await cache.get('b')
  cache.forget((value) => value === 'A')
  await cache.get('a')
  await cache.get('b')
  assert.deepEqual(loads, ['a', 'b', 'a'])
  cache.clear()
  await cache.get('b')
  assert.deepEqual(loads, ['a', 'b', 'a', 'b'])
})

test('a change during a load prevents caching of the loaded value', async () => {
  const { cache, answers, whileLoading } = setup()
  whileLoading(() => {
    answers.set('a', 'A2')
    cache.forget(() => true)
    whileLoading(() => {})
  })
  assert.equal(await cache.get('a'), 'A')
  assert.equal(await cache.get('a'), 'A2')
})

test('an entry expires after its maximum age, even when the clock is set back', async () => {
  const { cache, loads, move } = setup()
  await cache.get('a')
  move(4.9)
  await cache.get('a')
  assert.equal(loads.length, 1)
  move(0.2)
  await cache.get('a')
  assert.equal(loads.length, 2)
  move(-3600)
  await cache.get('a')
  assert.equal(loads.length, 3)
})

test('above the limit the oldest entry is removed', async () => {
  const { cache, loads } = setup(2)
  for (const key of ['a', 'b', 'c', 'b', 'c', 'a']) await cache.get(key)
  assert.deepEqual(loads, ['a', 'b', 'c', 'a'])
})

test('callers during a load share it, unless the entry was forgotten meanwhile', async () => {
  const { cache, loads, whileLoading } = setup()
  assert.deepEqual(await Promise.all([cache.get('a'), cache.get('a'), cache.get('a')]), ['A', 'A', 'A'])
  assert.deepEqual(loads, ['a'])
  cache.clear()
  let later: Promise<string | null> | undefined
  whileLoading(() => {
    whileLoading(() => {})
    cache.forget(() => false)
    later = cache.get('a')
  })
  await cache.get('a')
  await later
  assert.deepEqual(loads, ['a', 'a', 'a'])
})
