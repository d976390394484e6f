import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@roost/contracts/client'
import { CodeNotLoaded } from './code.ts'
import { isPassing, mayReloadFor, untilAnswering } from './recovery.ts'

test('network failures are temporary, responses of the platform are not', () => {
  const passing = [
    new TypeError('Failed to fetch'),
    new TypeError('NetworkError when attempting to fetch resource.'),
    new TypeError('Load failed'),
    new CodeNotLoaded(new Error('x')),
    new ApiError(502, null),
  ]
  const lasting = [
    new TypeError('x is not a function'),
    new ApiError(503, { detail: 'Down.', error: 'internal_error' }),
    new ApiError(404, null),
    'text',
  ]
  assert.deepEqual(passing.map(isPassing), [true, true, true, true, true])
  assert.deepEqual(lasting.map(isPassing), [false, false, false, false])
})

test('it polls with growing delays, and not while the page is hidden', async () => {
  const pauses: number[] = []
  const answers = [false, false, true]
  let hiddenFor = 2
  await untilAnswering(new AbortController().signal, 0, {
    wait: async (ms) => void pauses.push(ms),
    isHidden: () => hiddenFor-- > 0,
    isAnswering: async () => answers.shift() ?? false,
  })
  assert.deepEqual(pauses, [2000, 4000, 8000, 16_000, 30_000])
  assert.deepEqual(answers, [])
})

test('the page reloads once for each missing file', () => {
  const stored = new Map<string, string>()
  const memory = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  }
  const [one, other] = [new CodeNotLoaded(new Error('a-1.js')), new CodeNotLoaded(new Error('b-1.js'))]
  assert.deepEqual(
    [one, one, other, other, one, new Error('a')].map((error) => mayReloadFor(error, memory)),
    [true, false, true, false, false, false],
  )
})
