import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'

const tag = 'Settings'
const path = '/api/settings/model-prices'

const Day = z.iso.date('must be a date of the form YYYY-MM-DD')
const Usd = z.number().min(0).max(10_000)
const Factor = z.number().min(0).max(100)

/** US dollars per million tokens. */
const rates = {
  input: Usd.describe('US dollars per million uncached input tokens.'),
  output: Usd.describe('US dollars per million output tokens, including thinking.'),
  cache_read: Usd.optional().describe('Input read from the prompt cache. Default: `input`.'),
  cache_write: Usd.optional().describe('Input written to the prompt cache. Default: `input`.'),
  cache_write_1h: Usd.optional().describe('Input cached for one hour. Default: `cache_write`.'),
}
const price = {
  ...rates,
  long: z
    .strictObject({ above: z.number().int().positive().describe('Tokens of the prompt.'), ...rates })
    .optional()
    .describe('Prices of a whole request whose prompt has more tokens than `above`.'),
  fast: Factor.optional().describe('Token prices in the fast or priority tier, as a multiple of these.'),
  flex: Factor.optional().describe('Token prices in the flex tier, as a multiple of these.'),
  web_search: Usd.optional().describe('US dollars per web search that the provider ran.'),
  window: z.number().int().positive().max(100_000_000).optional().describe('Tokens of the context window.'),
}
const modelId = /^[a-z0-9][a-z0-9._:-]{0,99}$/
const ModelId = z.string().regex(modelId, 'must be 1 to 100 lowercase letters, digits, ".", "_", ":" and "-"')

export const ModelPrice = z.strictObject({
  id: ModelId.describe('Also matches `id` with a date behind it, such as `-20260301` or `-2026-03-01`.'),
  aliases: z.array(ModelId).max(50).optional(),
  from: Day.optional().describe('First day (UTC) of these prices. Absent: always valid.'),
  ...price,
})
export type ModelPrice = z.output<typeof ModelPrice>

/** Price of models without a row. An unknown name must never be free. */
export const FamilyPrice = z
  .strictObject({
    match: z
      .string()
      .regex(/^[a-z0-9._:*-]{1,100}$/, 'must be a lowercase model name with "*" for any characters')
      .describe('A model name in which `*` matches any characters. The first match applies.'),
    ...price,
  })
  .refine(({ input, output }) => input > 0 && output > 0, 'input and output must be above 0')
export type FamilyPrice = z.output<typeof FamilyPrice>

export const ProviderPrices = z
  .strictObject({
    as_of: Day.describe('The day on which these prices were valid.'),
    source: z.string().trim().min(1).max(500).describe("Source of the prices: the provider's price page."),
    us_inference: Factor.optional().describe('Factor on token prices for requests served only in the US.'),
    fast: price.fast,
    flex: price.flex,
    web_search: price.web_search,
    models: z.array(ModelPrice).max(2000),
    families: z.array(FamilyPrice).max(200).default([]),
  })
  .superRefine((provider, context) => {
    for (const [path, message] of namingFaults(provider)) context.addIssue({ code: 'custom', path, message })
  })
export type ProviderPrices = z.output<typeof ProviderPrices>

export const PriceTable = z
  .strictObject({
    format: z.literal(1),
    providers: z
      .strictObject({
        anthropic: ProviderPrices.optional(),
        google: ProviderPrices.optional(),
        openai: ProviderPrices.optional(),
      })
      .refine((providers) => Object.keys(providers).length > 0, 'must name at least one provider'),
  })
  .meta({ id: 'PriceTable' })
export type PriceTable = z.output<typeof PriceTable>

export const ModelPrices = z
  .object({
    built_in: PriceTable.describe('The table of this version of Roost.'),
    custom: PriceTable.nullable().describe(
      'The imported table. Its rows replace and extend the built-in ones.',
    ),
    updated_at: Timestamp.nullable().describe('When the imported table was saved.'),
  })
  .meta({ id: 'ModelPrices' })
export type ModelPrices = z.output<typeof ModelPrices>

export const maxPriceTableBytes = 256 * 1024

export const getModelPrices = endpoint({
  id: 'getModelPrices',
  method: 'GET',
  path,
  summary: 'Model prices: the built-in table and the imported one',
  description:
    'The broker computes the `cost` of a run with these prices. A model without a row is priced by its family, and the run has `cost_estimated: true`.',
  tag,
  access: { who: 'admin' },
  returns: ModelPrices,
})

export const putModelPrices = endpoint({
  id: 'putModelPrices',
  method: 'PUT',
  path,
  summary: 'Import a price table',
  description:
    'Replaces the imported table. Rows of the same model, and families with the same `match`, replace the built-in ones; others are added. Applies from the next model request on, in every API process. Stored costs do not change.',
  tag,
  access: { who: 'admin', gate: 'person' },
  body: PriceTable,
  bodyLimit: maxPriceTableBytes,
  returns: ModelPrices,
  audit: { type: 'configuration', action: 'put_model_prices' },
})

export const deleteModelPrices = endpoint({
  id: 'deleteModelPrices',
  method: 'DELETE',
  path,
  summary: 'Remove the imported price table; the built-in one applies again',
  tag,
  access: { who: 'admin', gate: 'person' },
  returns: ModelPrices,
  audit: { type: 'configuration', action: 'delete_model_prices' },
})

type Issue = [path: (string | number)[], message: string]

/** Names must be unambiguous, and prices must apply from the beginning. */
function namingFaults({ models, families }: Pick<ProviderPrices, 'models' | 'families'>): Issue[] {
  const faults: Issue[] = []
  const owners = new Map<string, string>()
  const rows = new Set<string>()
  const isAlwaysPriced = new Set(models.filter(({ from }) => from === undefined).map(({ id }) => id))
  for (const [index, { id, aliases = [], from }] of models.entries()) {
    const row = `${id} ${from ?? ''}`
    if (rows.has(row)) faults.push([['models', index, 'id'], `"${id}" has two rows with the same \`from\``])
    rows.add(row)
    if (!isAlwaysPriced.has(id))
      faults.push([['models', index, 'from'], `"${id}" needs a row without \`from\``])
    for (const name of [id, ...aliases]) {
      const owner = owners.get(name)
      if (owner !== undefined && owner !== id)
        faults.push([['models', index], `"${name}" already names "${owner}"`])
      owners.set(name, owner ?? id)
    }
  }
  const matches = new Set<string>()
  for (const [index, { match }] of families.entries()) {
    if (matches.has(match)) faults.push([['families', index, 'match'], `"${match}" occurs twice`])
    matches.add(match)
  }
  return faults
}
