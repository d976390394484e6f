import type { ParseArgsConfig, ParseArgsOptionsConfig } from 'node:util'
import { type Command, readArguments, UsageError } from '../command.ts'
import { type Connection, connect } from './connect.ts'
import { exitCodeLines, failureOf, reportFailure } from './exit.ts'

/** Options of every client command. */
const commonOptions = { json: { type: 'boolean' }, server: { type: 'string' } } as const
const commonLines = [
  '',
  '--json         print the platform’s response as JSON; errors as an object on standard error',
  '--server NAME  use this stored server instead of the current one',
  '',
  ...exitCodeLines,
]

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>

export type CommandContext = Connection & {
  positionals: string[]
  values: Values
  isJson: boolean
  /** The text of an option; undefined when it is absent. */
  text(name: string): string | undefined
  flag(name: string): boolean
  /** An option that must be a whole number; undefined when it is absent. Throws `UsageError`. */
  integer(name: string): number | undefined
  /** Prints the reply as JSON with `--json`, otherwise the text for people. */
  print(reply: unknown, text: () => string): void
}

export type Subcommand = {
  /** Parameters such as `AGENT ID`; brackets mark optional ones, dots repeated ones. */
  parameters: string
  summary: string
  options?: ParseArgsOptionsConfig
  optionLines?: string[]
  run(context: CommandContext): Promise<number | undefined>
}

/** A command without subcommands. */
export function clientCommand(name: string, subcommand: Subcommand): Command {
  return {
    name,
    summary: subcommand.summary,
    usage: [
      `roost ${name} ${subcommand.parameters}`.trimEnd(),
      '',
      ...(subcommand.optionLines ?? []),
      ...commonLines,
    ],
    run: (args) => runSubcommand(subcommand, args),
  }
}

/** A command with subcommands. Without one it runs `list`, if it has that. */
export function commandGroup(
  name: string,
  summary: string,
  subcommands: Record<string, Subcommand>,
): Command {
  return {
    name,
    summary,
    completions: Object.keys(subcommands),
    usage: [
      ...Object.entries(subcommands).flatMap(([word, subcommand]) => [
        `${`roost ${name} ${word} ${subcommand.parameters}`.trimEnd()}`,
        `    ${subcommand.summary}`,
        ...(subcommand.optionLines ?? []).map((line) => `    ${line}`),
      ]),
      ...commonLines,
    ],
    async run([word, ...args]) {
      const subcommand =
        word !== undefined && Object.hasOwn(subcommands, word) ? subcommands[word] : undefined
      if (subcommand) return runSubcommand(subcommand, args)
      const list = subcommands.list
      if (list && word === undefined) return runSubcommand(list, [])
      if (list && word !== undefined && (word.startsWith('-') || list.parameters !== ''))
        return runSubcommand(list, [word, ...args])
      if (word === undefined || word.startsWith('-'))
        throw new UsageError(`Missing subcommand. Use one of: ${Object.keys(subcommands).join(', ')}.`)
      throw new UsageError(
        `Unknown subcommand ${JSON.stringify(word)}. Use one of: ${Object.keys(subcommands).join(', ')}.`,
      )
    },
  }
}

async function runSubcommand(subcommand: Subcommand, args: string[]): Promise<number> {
  const config: ParseArgsConfig = {
    args,
    options: { ...commonOptions, ...subcommand.options },
    allowPositionals: true,
  }
  const { values, positionals } = readArguments(config) as { values: Values; positionals: string[] }
  checkCount(subcommand.parameters, positionals)
  const isJson = values.json === true
  try {
    const text = (name: string) => {
      const value = values[name]
      return typeof value === 'string' ? value : undefined
    }
    const code = await subcommand.run({
      ...(await connect(text('server'))),
      positionals,
      values,
      isJson,
      text,
      flag: (name) => values[name] === true,
      integer: (name) => integer(name, text(name)),
      print(reply, toText) {
        console.log(isJson ? JSON.stringify(reply, null, 2) : toText())
      },
    })
    return code ?? 0
  } catch (error) {
    const failure = failureOf(error)
    if (!failure) throw error
    return reportFailure(failure, isJson)
  }
}

function checkCount(parameters: string, positionals: readonly string[]): void {
  const names = parameters.split(' ').filter(Boolean)
  const required = names.filter((name) => !name.startsWith('['))
  const missing = required[positionals.length]
  if (missing) throw new UsageError(`Missing argument ${missing}.`)
  const isRepeated = names.some((name) => name.includes('…'))
  if (!isRepeated && positionals.length > names.length) {
    throw new UsageError(`Unexpected argument ${JSON.stringify(positionals[names.length])}.`)
  }
}

function integer(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^-?\d{1,9}$/.test(text))
    throw new UsageError(`--${name} must be a whole number, not ${JSON.stringify(text)}.`)
  return Number(text)
}
