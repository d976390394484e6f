import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../ports/log.ts'
import { createPrices } from '../prices/index.ts'
import { costOf } from './cost.ts'
import type { Provider } from './provider-rules.ts'
import { contextTokens, type Metered, noTokens, type Tokens } from './usage-rules.ts'

const none = { text: '', updatedAt: null }
const settings = { modelPrices: { stored: () => none, put: async () => {}, remove: async () => {} } }
const prices = createPrices({ settings, log: silentLog }).lookup()
const at = new Date('2026-11-23T12:00:00.000Z')
const million = 1_000_000

function cost(
  provider: Provider,
  model: string | null,
  tokens: Partial<Tokens>,
  over: Partial<Metered> = {},
) {
  const metered = { tier: 'standard', isUsInference: false, parts: null, context: null, ...over } as const
  return costOf({ prices, provider, at }, model, { ...metered, tokens: { ...noTokens, ...tokens } })
}
const micros = (...args: Parameters<typeof cost>) => cost(...args).micros

test('a million tokens cost the table price', () => {
  assert.equal(micros('anthropic', 'claude-sonnet-4-5', { input: million }), 3_000_000)
  assert.equal(micros('anthropic', 'claude-haiku-4-5-20251001', { output: million }), 5_000_000)
  assert.equal(micros('anthropic', 'claude-opus-4-1', { input: million }), 15_000_000)
  assert.equal(micros('openai', 'gpt-5-codex', { cacheRead: million }), 125_000)
  assert.equal(micros('openai', 'gpt-6-sol', { cacheWrite: 100_000 }), 250_000)
})

test('cache writes for an hour cost more than for five minutes', () => {
  const written = { cacheWrite: million }
  assert.equal(micros('anthropic', 'claude-sonnet-4-5', written), 3_750_000)
  assert.equal(micros('anthropic', 'claude-sonnet-4-5', { ...written, cacheWriteLong: million }), 6_000_000)
  const tooMuch = { ...written, cacheWriteLong: 2 * million }
  assert.equal(
    micros('anthropic', 'claude-sonnet-4-5', tooMuch),
    6_000_000,
    'limited to the total cache writes',
  )
})

test('a long prompt costs more where the table has a higher rate', () => {
  assert.equal(micros('google', 'gemini-2.5-pro', { input: 200_000 }), 250_000)
  assert.equal(micros('google', 'gemini-2.5-pro', { input: 200_001 }), 500_003)
  assert.equal(micros('anthropic', 'claude-haiku-5-5', { input: 1, cacheRead: 100_000 }), 5_001)
})

test('model calls inside one request are priced separately', () => {
  const part = { ...noTokens, input: 60_000 }
  const whole = { input: 120_000 }
  assert.equal(micros('anthropic', 'claude-haiku-5-5', whole), 60_000)
  assert.equal(micros('anthropic', 'claude-haiku-5-5', whole, { parts: [part, part] }), 12_000)
  assert.equal(micros('anthropic', 'claude-haiku-5-5', whole, { parts: [part] }), 60_000, 'part is missing')
})

test('fast mode, flex, US inference and web searches have their own prices', () => {
  const used = { input: million }
  assert.equal(micros('anthropic', 'claude-opus-4-6', used, { tier: 'fast' }), 30_000_000)
  assert.equal(micros('anthropic', 'claude-opus-5-5', used, { tier: 'fast' }), 8_000_000)
  assert.equal(micros('openai', 'gpt-5.4-mini', used, { tier: 'fast' }), 1_500_000)
  assert.equal(micros('openai', 'gpt-5.4-mini', used, { tier: 'flex' }), 375_000)
  assert.equal(micros('google', 'gemini-2.5-flash', used, { tier: 'fast' }), 540_000)
  assert.equal(micros('anthropic', 'claude-opus-5-5', used, { isUsInference: true }), 4_400_000)
  const searches = { ...used, webSearches: 2 }
  assert.equal(micros('anthropic', 'claude-opus-5-5', searches, { isUsInference: true }), 4_420_000)
})

test('a tier without a published price is estimated at the highest factor', () => {
  const fast = cost('anthropic', 'claude-sonnet-5-5', { input: 1000 }, { tier: 'fast' })
  assert.deepEqual([fast.micros, fast.isEstimated], [12_000, true])
  const unknown = cost('openai', 'gpt-6-luna', { input: 10_000 }, { tier: 'unknown' })
  assert.deepEqual([unknown.micros, unknown.isEstimated], [2_500, true])
  const flex = cost('anthropic', 'claude-sonnet-5-5', { input: 1000 }, { tier: 'flex' })
  assert.deepEqual([flex.micros, flex.isEstimated], [2_000, true])
})

test('an unknown model is estimated at the price of its family', () => {
  for (const provider of ['anthropic', 'google', 'openai'] as const) {
    for (const model of ['unheard-of', null]) {
      const { micros, isEstimated } = cost(provider, model, { input: 1000, output: 1000 })
      assert.ok(micros > 0 && isEstimated, provider)
    }
  }
  assert.equal(cost('anthropic', 'claude-sonnet-9', { input: million }).micros, 3_000_000)
  assert.equal(cost('anthropic', 'claude-sonnet-4-5', { input: 1 }).isEstimated, false)
})

test('the context window is that of the model, or the long one on request', () => {
  assert.equal(cost('anthropic', 'claude-sonnet-4-5', {}).window, 200_000)
  assert.equal(cost('anthropic', 'claude-sonnet-4-5[1m]', {}).window, 1_000_000)
  assert.equal(contextTokens({ ...noTokens, input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }), 10)
})
