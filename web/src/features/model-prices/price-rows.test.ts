import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelPrices } from '@roost/contracts/runs/model-prices'
import { isOutdated, priceRows, tableSources } from './price-rows.ts'

const family = { match: '*', input: 15, output: 75 }
const openai = { as_of: '2026-11-19', source: 'OpenAI', models: [{ id: 'gpt-a', input: 1, output: 2 }] }
const prices: ModelPrices = {
  built_in: {
    format: 1,
    providers: {
      openai: { ...openai, families: [] },
      anthropic: {
        as_of: '2026-11-19',
        source: 'Anthropic',
        models: [
          { id: 'claude-a', input: 4, output: 20, cache_read: 0.2 },
          { id: 'claude-b', input: 5, output: 25 },
        ],
        families: [family],
      },
    },
  },
  custom: {
    format: 1,
    providers: {
      anthropic: {
        as_of: '2026-10-01',
        source: 'Contract',
        models: [{ id: 'claude-b', input: 3, output: 9 }],
        families: [],
      },
    },
  },
  updated_at: '2026-12-01T00:00:00.000Z',
}

test('imported rows replace built-in ones of the same model, by provider, families last', () => {
  assert.deepEqual(
    priceRows(prices).map(({ model, input, cacheRead, isImported, isFamily }) => [
      ...[model, input, cacheRead, isImported, isFamily],
    ]),
    [
      ['claude-b', 3, 3, true, false],
      ['claude-a', 4, 0.2, false, false],
      ['*', 15, 15, false, true],
      ['gpt-a', 1, 1, false, false],
    ],
  )
})

test('an imported table that is older than the built-in one is outdated', () => {
  const sources = tableSources(prices)
  assert.deepEqual(
    sources.map((source) => [source.provider, source.asOf, source.isImported, isOutdated(sources, source)]),
    [
      ['openai', '2026-11-19', false, false],
      ['anthropic', '2026-11-19', false, false],
      ['anthropic', '2026-10-01', true, true],
    ],
  )
})
