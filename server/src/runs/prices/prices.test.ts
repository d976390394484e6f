import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PriceTable, type PriceTable as Table } from '@roost/contracts/runs/model-prices'
import { modelProviders } from '@roost/contracts/runs/provider-subscriptions'
import { createLookup, matchesGlob, type Price } from './lookup.ts'
import { readBuiltIn } from './service.ts'
import document from './table.json' with { type: 'json' }

const builtIn = readBuiltIn(document)
const lookup = createLookup(builtIn, null)
const at = new Date('2026-11-23T12:00:00.000Z')
const anthropic = (model: string | null, when = at) => lookup.priceOf('anthropic', model, when)

function tableOf(over: Partial<NonNullable<Table['providers']['anthropic']>>): Table {
  const provider = { as_of: '2027-01-01', source: 'test', models: [], families: [], ...over }
  return PriceTable.parse({ format: 1, providers: { anthropic: provider } })
}

describe('the built-in table', () => {
  test('has a date, a source and a family for every other model, for each provider', () => {
    for (const name of modelProviders) {
      const provider = builtIn.providers[name] ?? assert.fail(name)
      assert.match(provider.as_of, /^2026-/)
      assert.match(provider.source, /pricing/)
      assert.equal(provider.families.at(-1)?.match, '*')
    }
  })

  /** Prices of Claude Code 2.1.329: input, output, cache read, 5-minute write, 1-hour write. */
  const claude: Record<string, number[]> = {
    'claude-3-5-haiku': [0.8, 4, 0.08, 1, 1.6],
    'claude-haiku-4-5': [1, 5, 0.1, 1.25, 2],
    'claude-haiku-5-5': [0.1, 0.5, 0.01, 0.125, 0.2],
    'claude-3-7-sonnet': [3, 15, 0.3, 3.75, 6],
    'claude-sonnet-4-0': [3, 15, 0.3, 3.75, 6],
    'claude-sonnet-4-5': [3, 15, 0.3, 3.75, 6],
    'claude-sonnet-4-6': [3, 15, 0.3, 3.75, 6],
    'claude-sonnet-5': [2, 10, 0.2, 2.5, 4],
    'claude-sonnet-5-5': [2, 10, 0.1, 2.5, 4],
    'claude-opus-4-0': [15, 75, 1.5, 18.75, 30],
    'claude-opus-4-1': [15, 75, 1.5, 18.75, 30],
    'claude-opus-4-5': [5, 25, 0.5, 6.25, 10],
    'claude-opus-4-6': [5, 25, 0.5, 6.25, 10],
    'claude-opus-4-7': [5, 25, 0.5, 6.25, 10],
    'claude-opus-4-8': [5, 25, 0.5, 6.25, 10],
    'claude-opus-5': [5, 25, 0.5, 6.25, 10],
    'claude-opus-5-5': [4, 20, 0.2, 5, 8],
    'claude-fable-5': [10, 50, 1, 12.5, 20],
    'claude-fable-5-1': [10, 50, 0.25, 12.5, 20],
    'claude-fable-5-2': [8, 40, 0.2, 10, 16],
    'claude-mythos-5': [10, 50, 1, 12.5, 20],
    'claude-mythos-5-1': [10, 50, 0.25, 12.5, 20],
    'claude-mythos-5-2': [8, 40, 0.2, 10, 16],
  }
  for (const [model, rates] of Object.entries(claude)) {
    test(`${model} has the price that Claude Code uses`, () => {
      const { price, isEstimated } = anthropic(model)
      const { input, output, cacheRead, cacheWrite, cacheWriteLong } = price
      assert.deepEqual([input, output, cacheRead, cacheWrite, cacheWriteLong], rates)
      assert.deepEqual([isEstimated, price.webSearch, price.usInference], [false, 0.01, 1.1])
    })
  }

  test('has the fast modes and the long prompts of Claude Code', () => {
    const fast = (model: string) => anthropic(model).price.fast
    assert.deepEqual(
      ['claude-opus-4-6', 'claude-opus-4-7', 'claude-opus-4-8', 'claude-opus-5', 'claude-opus-5-5'].map(fast),
      [6, 6, 2, 2, 2],
    )
    assert.deepEqual(['claude-fable-5-2', 'claude-mythos-5-2', 'claude-sonnet-5-5'].map(fast), [2, 2, null])
    assert.deepEqual(anthropic('claude-haiku-5-5').price.long, {
      above: 100_000,
      ...{ input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625, cacheWriteLong: 1 },
    })
  })

  /** Models that the pinned CLIs request by default, for side requests and by alias. */
  const defaults = {
    anthropic: [
      ...['claude-sonnet-5-5', 'claude-opus-5-5', 'claude-haiku-5-5', 'claude-fable-5-2'],
      ...['sonnet', 'opus', 'haiku', 'fable', 'opus[1m]', 'claude-opus-4-6[1m]'],
    ],
    google: [
      ...['gemini-3-pro-preview', 'gemini-3.1-pro-preview', 'gemini-3.1-pro-preview-customtools'],
      ...['gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite', 'gemini-3-flash-preview'],
      ...['gemini-3.5-flash', 'gemini-3.8-flash', 'gemini-3.1-flash-lite', 'gemini-3.5-flash-lite'],
    ],
    openai: [
      ...['gpt-6.1-sol', 'gpt-6.1-terra', 'gpt-6-astra', 'gpt-6-sol', 'gpt-6-luna', 'gpt-5.6-sol'],
      ...['gpt-5.6-terra', 'gpt-5.6-luna', 'gpt-5.5', 'gpt-5.4-mini', 'gpt-5.1-codex-mini', 'gpt-5-codex'],
    ],
  } as const
  for (const name of modelProviders) {
    test(`knows the models that the CLI of ${name} requests`, () => {
      const estimated = defaults[name].filter((model) => lookup.priceOf(name, model, at).isEstimated)
      assert.deepEqual(estimated, [])
    })
  }

  test('a family costs at least as much as every known model that it covers', () => {
    const kinds = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWriteLong', 'webSearch'] as const
    const cheaper: string[] = []
    for (const name of modelProviders) {
      for (const { id } of builtIn.providers[name]?.models ?? []) {
        const known = lookup.priceOf(name, id, at).price
        // A name without a row that the same family covers.
        const family: Price = lookup.priceOf(name, `${id}-next`, at).price
        for (const kind of kinds) if (family[kind] < known[kind]) cheaper.push(`${id} ${kind}`)
        if ((family.long ?? family).input < (known.long ?? known).input) cheaper.push(`${id} long`)
      }
    }
    assert.deepEqual(cheaper, [])
  })
})

describe('names', () => {
  test('dated snapshots, any case and the suffix of the long window name the same model', () => {
    const names = [
      ...['claude-haiku-4-5', 'claude-haiku-4-5-20251001', 'CLAUDE-Haiku-4-5', 'claude-haiku-4-5-latest'],
      ...['claude-haiku-4-5@20251001', 'claude-haiku-4-5[1m]'],
    ]
    for (const name of names) {
      const { price, isEstimated } = anthropic(name)
      assert.deepEqual([price.input, isEstimated], [1, false], name)
    }
    assert.equal(lookup.priceOf('google', 'models/gemini-2.5-pro', at).isEstimated, false)
    assert.equal(lookup.priceOf('openai', 'gpt-5-2025-08-07', at).isEstimated, false)
    assert.equal(lookup.priceOf('openai', 'gpt-4o-2024-05-13', at).price.input, 5, 'a row of its own')
  })

  test('a name that only starts like a known one is an estimate and never free', () => {
    const names = ['claude-haiku-4-50', 'claude-haiku-4-5-mini', 'claude-', 'x', '', '*', null, '__proto__']
    for (const provider of modelProviders) {
      for (const name of [...names, 'gpt-6-luna-pro', 'gemini-9', 'constructor']) {
        const { price, isEstimated } = lookup.priceOf(provider, name, at)
        assert.equal(isEstimated, true, `${name}`)
        assert.ok(Math.min(price.input, price.output, price.cacheRead, price.cacheWrite) > 0, `${name}`)
      }
    }
  })

  test('a future price applies from its first UTC day', () => {
    const input = (day: string) => lookup.priceOf('google', 'gemini-3.8-flash', new Date(day)).price.input
    assert.deepEqual([input('2026-12-31T23:59:59.999Z'), input('2027-01-01T00:00:00.000Z')], [0.75, 1.5])
  })

  test('`*` matches any characters', () => {
    const cases: [string, string, boolean][] = [
      ['*', '', true],
      ['a*c', 'abc', true],
      ['a*c', 'ac', true],
      ['a*c', 'abd', false],
      ['ab*ba', 'aba', false],
      ['*-pro*', 'gpt-9-pro', true],
      ['*x*y*', 'y-x', false],
      ['exact', 'exact', true],
      ['exact', 'exactly', false],
    ]
    for (const [match, text, isMatch] of cases) assert.equal(matchesGlob(match, text), isMatch, match)
  })
})

describe('an imported table', () => {
  test('replaces rows, adds rows and aliases, and keeps the others', () => {
    const models = [
      { id: 'claude-opus-5-5', input: 7, output: 8 },
      { id: 'claude-next', aliases: ['opus'], input: 1, output: 2, cache_read: 0 },
    ]
    const imported = createLookup(builtIn, tableOf({ models }))
    const inputOf = (model: string) => imported.priceOf('anthropic', model, at).price.input
    assert.deepEqual(
      ['claude-opus-5-5', 'claude-next', 'opus', 'claude-sonnet-5-5'].map(inputOf),
      [7, 1, 1, 2],
    )
    assert.equal(imported.priceOf('anthropic', 'claude-next', at).isEstimated, false)
    const { price } = imported.priceOf('anthropic', 'claude-opus-5-5', at)
    assert.deepEqual([price.cacheRead, price.cacheWrite, price.fast], [7, 7, null], 'nothing is inherited')
    assert.equal(imported.priceOf('openai', 'gpt-6-luna', at).price.input, 0.1)
  })

  test('its families take precedence over the built-in ones; its `*` replaces theirs', () => {
    const families = [
      { match: '*', input: 99, output: 99 },
      { match: 'claude-next-*', input: 1, output: 1 },
    ]
    const imported = createLookup(builtIn, tableOf({ families }))
    const inputOf = (model: string) => imported.priceOf('anthropic', model, at).price.input
    assert.deepEqual(['claude-next-opus', 'claude-x-sonnet', 'claude-x'].map(inputOf), [1, 3, 99])
  })

  const model = { id: 'claude-x', input: 1, output: 1 }
  const refused: [string, object, RegExp][] = [
    ['an unknown field', { models: [{ ...model, cache_reed: 1 }] }, /cache_reed/],
    ['a negative price', { models: [{ ...model, input: -1 }] }, /expected number to be >=0/],
    ['a price that is text', { models: [{ ...model, input: '1' }] }, /expected number/],
    ['two rows of one model', { models: [model, model] }, /two rows with the same `from`/],
    [
      'one name for two models',
      { models: [model, { ...model, id: 'b', aliases: ['claude-x'] }] },
      /already names/,
    ],
    ['only a price for later', { models: [{ ...model, from: '2027-01-01' }] }, /needs a row without `from`/],
    ['an id in capitals', { models: [{ ...model, id: 'Claude' }] }, /lowercase/],
    ['an invalid date', { as_of: '2026-02-30' }, /YYYY-MM-DD/],
    ['no source', { source: ' ' }, /expected string to have >=1 characters/],
    ['a free family', { families: [{ match: '*', input: 0, output: 1 }] }, /must be above 0/],
    [
      'a family twice',
      { families: [1, 2].map((input) => ({ match: 'a*', input, output: 1 })) },
      /occurs twice/,
    ],
  ]
  for (const [what, over, message] of refused) {
    test(`${what} is rejected by name`, () => {
      const provider = { as_of: '2027-01-01', source: 'test', models: [], families: [], ...over }
      const found = PriceTable.safeParse({ format: 1, providers: { anthropic: provider } })
      assert.match(JSON.stringify(found.error?.issues), message)
    })
  }

  test('must name a provider, and only known ones', () => {
    for (const providers of [{}, { mistral: {} }]) {
      assert.equal(PriceTable.safeParse({ format: 1, providers }).success, false)
    }
  })
})

test('a built-in table without a family for all other models stops the start', () => {
  const { anthropic, ...others } = structuredClone(document.providers)
  const families = anthropic.families.filter(({ match }) => match !== '*')
  const broken = { ...document, providers: { ...others, anthropic: { ...anthropic, families } } }
  assert.throws(() => readBuiltIn(broken), /anthropic has no family/)
  assert.throws(() => readBuiltIn({ format: 2 }), /format/)
})
