import { readFile } from 'node:fs/promises'
import { issueWords } from '@roost/contracts/kit/issue-words'
import {
  deleteModelPrices,
  getModelPrices,
  type ModelPrices,
  PriceTable,
  putModelPrices,
} from '@roost/contracts/runs/model-prices'
import { commandGroup } from './client/client-command.ts'
import { CommandFailed, failureOf, reportFailure } from './client/exit.ts'
import { table } from './client/output.ts'
import { type Command, readArguments, UsageError } from './command.ts'

const group = commandGroup('prices', 'Model prices: list, export, check, import, reset (admins).', {
  list: {
    parameters: '[TEXT]',
    summary: 'List model prices in US dollars per million tokens; TEXT filters by model.',
    async run({ api, positionals: [text = ''], print }) {
      const prices = await api.call(getModelPrices, {})
      print(prices, () => [sourceLines(prices), '', priceTable(prices, text)].join('\n'))
    },
  },
  export: {
    parameters: '',
    summary: 'Print the built-in price table as JSON, to edit and import.',
    options: { imported: { type: 'boolean' } },
    optionLines: ['--imported       print the imported table instead'],
    async run({ api, flag }) {
      const { built_in, custom } = await api.call(getModelPrices, {})
      if (flag('imported') && !custom) throw new CommandFailed('No price table is imported.')
      console.log(JSON.stringify(flag('imported') ? custom : built_in, null, 2))
      return undefined
    },
  },
  check: {
    parameters: 'FILE',
    summary: 'Check a price table; needs no platform.',
    run: async () => undefined,
  },
  import: {
    parameters: 'FILE',
    summary: 'Import a price table. Its rows replace and extend the built-in ones.',
    async run({ api, positionals: [file = ''], print }) {
      const prices = await api.call(putModelPrices, { body: await readTable(file) })
      print(prices, () => `Imported.\n${sourceLines(prices)}`)
    },
  },
  reset: {
    parameters: '',
    summary: 'Remove the imported price table; the built-in one applies again.',
    async run({ api, print }) {
      const prices = await api.call(deleteModelPrices, {})
      print(prices, () => `Removed.\n${sourceLines(prices)}`)
    },
  },
})

/** `check` needs no connection, so that a table can be checked anywhere. */
export const prices: Command = {
  ...group,
  async run(args) {
    if (args[0] !== 'check') return group.run(args)
    const { values, positionals } = readArguments({
      args: args.slice(1),
      options: { json: { type: 'boolean' } },
      allowPositionals: true,
    })
    const [file, extra] = positionals
    if (file === undefined) throw new UsageError('Missing argument FILE.')
    if (extra !== undefined) throw new UsageError(`Unexpected argument ${JSON.stringify(extra)}.`)
    try {
      const checked = await readTable(file)
      console.log(values.json ? JSON.stringify(checked, null, 2) : summaryOf(checked))
      return 0
    } catch (error) {
      const failure = failureOf(error)
      if (!failure) throw error
      return reportFailure(failure, values.json === true)
    }
  },
}

/** Throws `CommandFailed` with one line per problem, each with its path in the file. */
async function readTable(file: string): Promise<PriceTable> {
  const parsed = PriceTable.safeParse(await readJson(file), { error: issueWords })
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(
    ({ path, message }) => `  ${path.join('.') || '(file)'}: ${message}`,
  )
  throw new CommandFailed(`${file} is not a valid price table:\n${problems.join('\n')}`)
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailed(`Cannot read ${file}: ${error.code ?? error.message}.`)
  })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CommandFailed(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}.`)
  }
}

function sourceLines({ built_in, custom }: ModelPrices): string {
  return [
    `Built-in table:\n${summaryOf(built_in)}`,
    ...(custom ? [`Imported table:\n${summaryOf(custom)}`] : []),
  ].join('\n')
}

function summaryOf({ providers }: PriceTable): string {
  return table(
    ['provider', 'as of', 'models', 'families', 'source'],
    Object.entries(providers).flatMap(([name, provider]) =>
      provider
        ? [
            [
              name,
              provider.as_of,
              String(provider.models.length),
              String(provider.families.length),
              provider.source,
            ],
          ]
        : [],
    ),
  )
}

function priceTable({ built_in, custom }: ModelPrices, text: string): string {
  const own = new Set(rowsOf(custom).map(({ provider, row }) => `${provider} ${row.id}`))
  const rows = [
    ...rowsOf(custom).map((each) => ({ ...each, origin: 'imported' })),
    ...rowsOf(built_in)
      .filter(({ provider, row }) => !own.has(`${provider} ${row.id}`))
      .map((each) => ({ ...each, origin: 'built-in' })),
  ]
  return table(
    ['provider', 'model', 'from', 'input', 'output', 'cache read', 'cache write', 'origin'],
    rows
      .filter(({ row }) => [row.id, ...(row.aliases ?? [])].some((name) => name.includes(text.toLowerCase())))
      .map(({ provider, row, origin }) => [
        provider,
        row.id,
        row.from ?? '',
        ...[row.input, row.output, row.cache_read ?? row.input, row.cache_write ?? row.input].map(String),
        origin,
      ]),
  )
}

function rowsOf(prices: PriceTable | null) {
  return Object.entries(prices?.providers ?? {}).flatMap(([provider, { models = [] } = {}]) =>
    models.map((row) => ({ provider, row })),
  )
}
