import type { FamilyPrice, ModelPrice, PriceTable, ProviderPrices } from '@roost/contracts/runs/model-prices'
import { type ModelProvider, modelProviders } from '@roost/contracts/runs/provider-subscriptions'

/** US dollars per million tokens; every rate is set. */
export type Rates = {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  cacheWriteLong: number
}

export type Price = Rates & {
  long: (Rates & { above: number }) | null
  /** Factor on all token prices; null when the provider publishes none for this tier. */
  fast: number | null
  flex: number | null
  usInference: number
  webSearch: number
  window: number | null
}

export type PriceLookup = {
  /** `isEstimated` is true when no row names the model and the prices are those of its family. */
  priceOf(provider: ModelProvider, model: string | null, at: Date): { price: Price; isEstimated: boolean }
  /** The highest factor of any model of the provider, for a tier without a published one. */
  highestFactor(provider: ModelProvider): number
}

type Compiled = {
  models: Map<string, ModelPrice[]>
  names: Map<string, string>
  families: FamilyPrice[]
  provider: ProviderPrices
  highestFactor: number
}

/** Rows of `custom` replace those of `builtIn` for the same model or family. */
export function createLookup(builtIn: PriceTable, custom: PriceTable | null): PriceLookup {
  const providers = new Map(
    modelProviders.map((name) => [name, compile(builtIn.providers[name], custom?.providers[name])]),
  )
  const compiledOf = (name: ModelProvider): Compiled => {
    const found = providers.get(name)
    if (!found) throw new Error(`The price table has no provider ${name}.`)
    return found
  }

  return {
    priceOf(name, model, at) {
      const compiled = compiledOf(name)
      const id = normalized(model)
      const known = idOf(compiled, id)
      const row = known === null ? null : currentRow(compiled.models.get(known) ?? [], at)
      const family = row ?? compiled.families.find(({ match }) => matchesGlob(match, id))
      if (!family) throw new Error(`The price table of ${name} has no family for all other models.`)
      return { price: resolved(family, compiled.provider), isEstimated: row === null }
    },
    highestFactor: (name) => compiledOf(name).highestFactor,
  }
}

function compile(builtIn: ProviderPrices | undefined, custom: ProviderPrices | undefined): Compiled {
  if (!builtIn) throw new Error('The built-in price table lacks a provider.')
  const provider = { ...builtIn, ...custom }
  const own = new Set(custom?.models.map(({ id }) => id))
  const rows = [...builtIn.models.filter(({ id }) => !own.has(id)), ...(custom?.models ?? [])]
  const models = Map.groupBy(rows, ({ id }) => id)
  // Imported names come last and win; an id always names its own row.
  const aliases = rows.flatMap(({ id, aliases = [] }) => aliases.map((alias) => [alias, id] as const))
  const names = new Map([...aliases, ...rows.map(({ id }) => [id, id] as const)])
  for (const { id, aliases = [] } of custom?.models ?? []) {
    for (const alias of aliases) if (!own.has(alias)) names.set(alias, id)
  }
  const matches = new Set(custom?.families.map(({ match }) => match))
  const families = [
    ...(custom?.families ?? []),
    ...builtIn.families.filter(({ match }) => !matches.has(match)),
  ]
  const factors = [provider.fast, ...[...rows, ...families].map(({ fast }) => fast)]
  const highestFactor = Math.max(1, ...factors.map((factor) => factor ?? 1))
  return { models, names, families: lastMatchAllLast(families), provider, highestFactor }
}

/** An imported `*` must not hide the narrower built-in families behind it. */
function lastMatchAllLast(families: FamilyPrice[]): FamilyPrice[] {
  return families.toSorted((a, b) => Number(a.match === '*') - Number(b.match === '*'))
}

/** `[1m]` asks the CLI for the long context window; `models/` is how Google names resources. */
function normalized(model: string | null): string {
  return (model ?? '')
    .toLowerCase()
    .replace(/\[1m\]$/, '')
    .replace(/^models\//, '')
}

/** Snapshots have the date of their release behind the name. */
const snapshot = /[-@](\d{8}|\d{4}-\d{2}-\d{2}|latest)$/

function idOf({ names }: Compiled, id: string): string | null {
  return names.get(id) ?? names.get(id.replace(snapshot, '')) ?? null
}

/** The latest row that has begun. Rows are few, so they are not sorted in advance. */
function currentRow(rows: readonly ModelPrice[], at: Date): ModelPrice | null {
  const day = at.toISOString().slice(0, 10)
  const begun = rows.filter(({ from }) => (from ?? '') <= day)
  return begun.toSorted((a, b) => ((a.from ?? '') < (b.from ?? '') ? 1 : -1))[0] ?? null
}

/** Linear in the length of both: a `*` matches as little as possible. */
export function matchesGlob(match: string, text: string): boolean {
  const parts = match.split('*')
  const [first = '', ...rest] = parts
  if (!text.startsWith(first)) return false
  const last = rest.pop()
  if (last === undefined) return text === match
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

function resolved(row: ModelPrice | FamilyPrice, provider: ProviderPrices): Price {
  const { long } = row
  return {
    ...ratesOf(row),
    long: long ? { above: long.above, ...ratesOf(long) } : null,
    fast: row.fast ?? provider.fast ?? null,
    flex: row.flex ?? provider.flex ?? null,
    usInference: provider.us_inference ?? 1,
    webSearch: row.web_search ?? provider.web_search ?? 0,
    window: row.window ?? null,
  }
}

function ratesOf(
  row: Pick<ModelPrice, 'input' | 'output' | 'cache_read' | 'cache_write' | 'cache_write_1h'>,
): Rates {
  const { input, output, cache_read = input, cache_write = input, cache_write_1h = cache_write } = row
  return { input, output, cacheRead: cache_read, cacheWrite: cache_write, cacheWriteLong: cache_write_1h }
}
