import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCache } from './cache.ts'
import type { Clock } from './clock.ts'

function setup(maxEntries = 10) {
  let at = Date.parse('2030-01-01T00:00:00Z')
  const clock: Clock = { now: () => new Date(at), wait: async () => {} }
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

test('a thing is loaded once and remembered', async () => {
  const { cache, loads } = setup()
  assert.equal(await cache.get('a'), 'A')
  assert.equal(await cache.get('a'), 'A')
  assert.deepEqual(loads, ['a'])
})

test('what does not exist is asked again each time', async () => {
  const { cache, loads, answers } = setup()
  assert.equal(await cache.get('x'), null)
  answers.set('x', 'X')
  assert.equal(await cache.get('x'), 'X')
  assert.deepEqual(loads, ['x', 'x'])
})

test('what is forgotten is loaded anew, the rest is kept', async () => {
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

test('a change told while it was loading is not overtaken by what was loaded', async () => {
  const { cache, answers, whileLoading } = setup()
  whileLoading(() => {
    answers.set('a', 'A2')
    cache.forget(() => true)
    whileLoading(() => {})
  })
  assert.equal(await cache.get('a'), 'A')
  assert.equal(await cache.get('a'), 'A2')
})

test('nothing is remembered beyond its age, nor longer because the clock was set back', async () => {
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

test('above the limit the oldest goes', async () => {
  const { cache, loads } = setup(2)
  for (const key of ['a', 'b', 'c', 'b', 'c', 'a']) await cache.get(key)
  assert.deepEqual(loads, ['a', 'b', 'c', 'a'])
})

test('who asks while a thing is loaded waits for it; who asks after it was forgotten does not', async () => {
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
