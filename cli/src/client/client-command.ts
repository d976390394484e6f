import type { ParseArgsConfig, ParseArgsOptionsConfig } from 'node:util'
import { listAgents } from '@roost/contracts/agents/registry'
import { ApiError } from '@roost/contracts/client'
import { type Command, readArguments, UsageError } from '../command.ts'
import { createSpinner, type Spinner } from '../terminal/spinner.ts'
import { usePlainOutput } from '../terminal/style.ts'
import { didYouMean } from '../terminal/suggest.ts'
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
  /** Shown during every call of the API; hide it before printing during one. */
  spinner: Spinner
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
  /** Shown on a terminal while the platform works, such as `Starting the agent`. */
  waiting?: string
  /** Everything after the first argument is passed on as it is, options included. */
  passesArguments?: boolean
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
    agentAfter: takesAgent(subcommand) ? [''] : [],
    passesArguments: subcommand.passesArguments ?? false,
    optionNames: { '': optionNamesOf(subcommand) },
    run: (args) => runSubcommand(subcommand, args),
  }
}

function takesAgent({ parameters }: Subcommand): boolean {
  return /^\[?AGENT\b(?!\] ID)/.test(parameters)
}

function optionNamesOf({ options = {} }: Subcommand): string[] {
  return [...Object.keys(options), ...Object.keys(commonOptions), 'help'].map((name) => `--${name}`)
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
    agentAfter: Object.keys(subcommands).filter((word) => takesAgent(subcommands[word] as Subcommand)),
    optionNames: Object.fromEntries(
      Object.entries(subcommands).map(([word, subcommand]) => [word, optionNamesOf(subcommand)]),
    ),
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
      const words = Object.keys(subcommands)
      throw new UsageError(
        `Unknown subcommand ${JSON.stringify(word)}.${didYouMean(word, words)} Use one of: ${words.join(', ')}.`,
      )
    },
  }
}

async function runSubcommand(subcommand: Subcommand, given: string[]): Promise<number> {
  const args = subcommand.passesArguments ? withSeparator(subcommand, given) : given
  const config: ParseArgsConfig = {
    args,
    options: { ...commonOptions, ...subcommand.options },
    allowPositionals: true,
  }
  const { values, positionals } = readArguments(config) as { values: Values; positionals: string[] }
  checkCount(subcommand.parameters, positionals)
  const isJson = values.json === true
  if (isJson) usePlainOutput()
  const spinner = createSpinner({ isSilent: isJson })
  let connection: Connection | null = null
  try {
    const text = (name: string) => {
      const value = values[name]
      return typeof value === 'string' ? value : undefined
    }
    connection = await connect(text('server'))
    const { api } = connection
    const code = await subcommand.run({
      ...connection,
      api: {
        ...api,
        call: (endpoint, input) =>
          spinner.during(subcommand.waiting ?? 'Waiting for the platform', () => api.call(endpoint, input)),
      },
      spinner,
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
    const hint = isJson || !connection ? '' : await agentHint(error, connection)
    return reportFailure({ ...failure, message: failure.message + hint }, isJson)
  } finally {
    spinner.hide()
  }
}

/** Names an agent with a similar name when the platform knows none by the given one. */
async function agentHint(error: unknown, { api }: Connection): Promise<string> {
  if (!(error instanceof ApiError) || error.body?.error !== 'agent_not_found') return ''
  const given = /"([^"]+)"/.exec(error.message)?.[1]
  const agents = given ? await api.call(listAgents, {}).catch(() => []) : []
  return given
    ? didYouMean(
        given,
        agents.map(({ name }) => name),
      )
    : ''
}

/** Puts `--` behind the first argument, so that the parser leaves the options of a passed command alone. */
function withSeparator({ options = {} }: Subcommand, args: readonly string[]): string[] {
  const all: ParseArgsOptionsConfig = { ...commonOptions, ...options }
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? ''
    if (arg === '--') return [...args]
    if (!arg.startsWith('-')) return [...args.slice(0, at + 1), '--', ...args.slice(at + 1)]
    const option = Object.entries(all).find(([name, { short }]) => arg === `--${name}` || arg === `-${short}`)
    if (option?.[1].type === 'string') at += 1
  }
  return [...args]
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
