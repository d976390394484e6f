import type { ParseArgsConfig, ParseArgsOptionsConfig } from 'node:util'
import { type Command, readArguments, UsageError } from '../command.ts'
import { type Connection, connect } from './connect.ts'
import { endingOf, exitCodeLines, tellEnding } from './exit.ts'

/** What every command that asks a platform takes. */
const common = { json: { type: 'boolean' }, server: { type: 'string' } } as const
const commonLines = [
  '--json         the platform’s own reply, for scripts; an error as an object on the error output',
  '--server NAME  another server than the one signed in to last',
  ...exitCodeLines,
]

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>

export type Asked = Connection & {
  positionals: string[]
  values: Values
  isJson: boolean
  /** The text of an option; undefined when it was not given. */
  text(name: string): string | undefined
  flag(name: string): boolean
  /** An option that must be a whole number. Throws `UsageError`. */
  integer(name: string): number | undefined
  /** The reply itself with `--json`, else what a person reads. */
  print(reply: unknown, words: () => string): void
}

export type Verb = {
  /** What follows the name: `AGENT ID`, in brackets what may be left out, with dots what may come again. */
  takes: string
  summary: string
  options?: ParseArgsOptionsConfig
  optionLines?: string[]
  run(asked: Asked): Promise<number | undefined>
}

/** A command that is one verb. */
export function clientCommand(name: string, verb: Verb): Command {
  return {
    name,
    summary: verb.summary,
    usage: [`roost ${name} ${verb.takes}`.trimEnd(), '', ...(verb.optionLines ?? []), ...commonLines],
    run: (args) => runVerb(verb, args),
  }
}

/** A command with verbs; `list` is what the bare command does. */
export function verbsCommand(name: string, summary: string, verbs: Record<string, Verb>): Command {
  return {
    name,
    summary,
    verbs: Object.keys(verbs),
    usage: [
      ...Object.entries(verbs).flatMap(([word, verb]) => [
        `${`roost ${name} ${word} ${verb.takes}`.trimEnd()}`,
        `    ${verb.summary}`,
        ...(verb.optionLines ?? []).map((line) => `    ${line}`),
      ]),
      '',
      ...commonLines,
    ],
    async run([word, ...args]) {
      const known = word !== undefined && Object.hasOwn(verbs, word) ? verbs[word] : undefined
      if (known) return runVerb(known, args)
      const list = verbs.list
      if (list && word === undefined) return runVerb(list, [])
      if (list && word !== undefined && (word.startsWith('-') || list.takes !== ''))
        return runVerb(list, [word, ...args])
      if (word === undefined || word.startsWith('-'))
        throw new UsageError(`One of these must follow: ${Object.keys(verbs).join(', ')}.`)
      throw new UsageError(`There is no ${JSON.stringify(word)}; there are ${Object.keys(verbs).join(', ')}.`)
    },
  }
}

async function runVerb(verb: Verb, args: string[]): Promise<number> {
  const config: ParseArgsConfig = {
    args,
    options: { ...common, ...verb.options },
    allowPositionals: true,
  }
  const { values, positionals } = readArguments(config) as { values: Values; positionals: string[] }
  checkCount(verb.takes, positionals)
  const isJson = values.json === true
  try {
    const text = (name: string) => {
      const value = values[name]
      return typeof value === 'string' ? value : undefined
    }
    const code = await verb.run({
      ...(await connect(text('server'))),
      positionals,
      values,
      isJson,
      text,
      flag: (name) => values[name] === true,
      integer: (name) => integer(name, text(name)),
      print(reply, words) {
        console.log(isJson ? JSON.stringify(reply, null, 2) : words())
      },
    })
    return code ?? 0
  } catch (error) {
    const ending = endingOf(error)
    if (!ending) throw error
    return tellEnding(ending, isJson)
  }
}

function checkCount(takes: string, given: readonly string[]): void {
  const words = takes.split(' ').filter(Boolean)
  const needed = words.filter((word) => !word.startsWith('['))
  const missing = needed[given.length]
  if (missing) throw new UsageError(`${missing} is missing.`)
  const isOpen = words.some((word) => word.includes('…'))
  if (!isOpen && given.length > words.length) {
    throw new UsageError(`${JSON.stringify(given[words.length])} is not understood.`)
  }
}

function integer(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^-?\d{1,9}$/.test(text))
    throw new UsageError(`--${name} must be a whole number, not ${JSON.stringify(text)}.`)
  return Number(text)
}
