import { type ModelPrices, PriceTable, type PriceTable as Table } from '@roost/contracts/runs/model-prices'
import { modelProviders } from '@roost/contracts/runs/provider-subscriptions'
import type { Settings } from '../../foundation/settings/index.ts'
import type { Log } from '../../ports/log.ts'
import { createLookup, type PriceLookup } from './lookup.ts'
import builtInTable from './table.json' with { type: 'json' }

export type Prices = {
  /** Current model prices; compiled again when the imported table changes. */
  lookup(): PriceLookup
  view(): ModelPrices
  put(table: Table): Promise<ModelPrices>
  remove(): Promise<ModelPrices>
}

/** Throws when the built-in table is invalid, so a broken data file stops the start. */
export function createPrices({
  settings,
  log,
}: {
  settings: Pick<Settings, 'modelPrices'>
  log: Pick<Log, 'error'>
}): Prices {
  const builtIn = readBuiltIn(builtInTable)
  let read: { text: string; custom: Table | null; lookup: PriceLookup } | null = null

  /** The stored text is the same string until the settings are read again. */
  function current() {
    const { text } = settings.modelPrices.stored()
    if (read?.text !== text) {
      const custom = readStored(text)
      read = { text, custom, lookup: createLookup(builtIn, custom) }
    }
    return read
  }

  function readStored(text: string): Table | null {
    if (text === '') return null
    const found = PriceTable.safeParse(parseJson(text))
    if (found.success) return found.data
    log.error({ issues: found.error.issues.slice(0, 5) }, 'the imported price table is invalid and ignored')
    return null
  }

  function view(): ModelPrices {
    const { custom } = current()
    const { updatedAt } = settings.modelPrices.stored()
    return { built_in: builtIn, custom, updated_at: custom === null ? null : updatedAt }
  }

  return {
    lookup: () => current().lookup,
    view,
    async put(table) {
      await settings.modelPrices.put(JSON.stringify(table))
      return view()
    },
    async remove() {
      await settings.modelPrices.remove()
      return view()
    },
  }
}

export function readBuiltIn(document: unknown): Table {
  const table = PriceTable.parse(document)
  for (const name of modelProviders) {
    const families = table.providers[name]?.families ?? []
    if (!families.some(({ match }) => match === '*'))
      throw new Error(`The built-in price table of ${name} has no family "*" for unknown models.`)
  }
  return table
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
