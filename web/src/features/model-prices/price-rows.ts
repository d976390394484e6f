import type { ModelPrice, ModelPrices, PriceTable } from '@roost/contracts/runs/model-prices'

/** A model, or a family of models that have no row. */
export type PriceRow = {
  key: string
  provider: string
  model: string
  from: string | null
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  isFamily: boolean
  isImported: boolean
}

export type TableSource = {
  key: string
  provider: string
  asOf: string
  source: string
  models: number
  isImported: boolean
}

/** The rows in effect: imported ones replace built-in ones of the same model or family. */
export function priceRows({ built_in, custom }: ModelPrices): PriceRow[] {
  const imported = rowsOf(custom, true)
  const replaced = new Set(imported.map(nameOf))
  return [...imported, ...rowsOf(built_in, false).filter((row) => !replaced.has(nameOf(row)))].toSorted(
    (a, b) => a.provider.localeCompare(b.provider) || Number(a.isFamily) - Number(b.isFamily),
  )
}

export function tableSources({ built_in, custom }: ModelPrices): TableSource[] {
  return [sourcesOf(built_in, false), sourcesOf(custom, true)].flat()
}

/** Whether a built-in table is newer than the imported one, whose rows hide it. */
export function isOutdated(sources: readonly TableSource[], source: TableSource): boolean {
  const builtIn = sources.find(({ provider, isImported }) => provider === source.provider && !isImported)
  return source.isImported && builtIn !== undefined && builtIn.asOf > source.asOf
}

function rowsOf(table: PriceTable | null, isImported: boolean): PriceRow[] {
  return Object.entries(table?.providers ?? {}).flatMap(([provider, prices]) => {
    if (!prices) return []
    const row = (model: string, isFamily: boolean, price: Price) => ({
      key: `${provider} ${model} ${price.from ?? ''}`,
      ...{ provider, model, isFamily, isImported },
      from: price.from ?? null,
      input: price.input,
      output: price.output,
      cacheRead: price.cache_read ?? price.input,
      cacheWrite: price.cache_write ?? price.input,
    })
    return [
      ...prices.models.map((price) => row(price.id, false, price)),
      ...prices.families.map((price) => row(price.match, true, price)),
    ]
  })
}

type Price = Pick<ModelPrice, 'input' | 'output' | 'cache_read' | 'cache_write' | 'from'>

function nameOf({ provider, model }: PriceRow): string {
  return `${provider} ${model}`
}

function sourcesOf(table: PriceTable | null, isImported: boolean): TableSource[] {
  return Object.entries(table?.providers ?? {}).flatMap(([provider, prices]) =>
    prices
      ? [
          {
            key: `${provider} ${isImported}`,
            provider,
            asOf: prices.as_of,
            source: prices.source,
            models: prices.models.length,
            isImported,
          },
        ]
      : [],
  )
}
