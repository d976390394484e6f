import { type ParseArgsConfig, parseArgs } from 'node:util'
import { didYouMean } from './terminal/suggest.ts'

/** A command of `roost`. `run` returns the exit code. */
export type Command = {
  name: string
  /** Its line in the list of commands. */
  summary: string
  /** Help text: one line per form or option. */
  usage: string[]
  /** Former or shorter names, left out of the list of commands. */
  aliases?: string[]
  /** Words that shell completion offers after the name. */
  completions?: string[]
  /** Words after the name at which an agent's name follows; an empty text means directly after the name. */
  agentAfter?: string[]
  /** Options behind the first argument belong to another program, such as `ssh`. */
  passesArguments?: boolean
  /** Options per word after the name; an empty text means the command itself. */
  optionNames?: Record<string, string[]>
  run(args: string[]): Promise<number>
}

/** The command line is invalid; the message is a sentence. Exit code 2. */
export class UsageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UsageError'
  }
}

/** Parses arguments with Node's parser. Throws `UsageError` with a sentence in place of the parser's own error. */
export function readArguments<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const unknown = /^Unknown option '([^']+)'/.exec(message)?.[1]
    if (unknown) {
      const known = Object.keys(config.options ?? {}).map((name) => `--${name}`)
      throw new UsageError(`Unknown option ${unknown}.${didYouMean(unknown, known)}`, { cause: error })
    }
    const positional = /^Unexpected argument '([^']+)'/.exec(message)?.[1]
    if (positional)
      throw new UsageError(`Unexpected argument ${JSON.stringify(positional)}.`, { cause: error })
    throw new UsageError(`${message.split('\n')[0]?.replace(/\.?$/, '.')}`, { cause: error })
  }
}

/** Reads a TCP port from an option; `zero` says whether 0 (any free port) is allowed. Throws `UsageError`. */
export function readPort(
  option: string,
  text: string,
  zero: 'refused' | 'any free port' = 'refused',
): number {
  const port = Number(text)
  const isPort = /^\d{1,5}$/.test(text) && port <= 65_535 && (port > 0 || zero === 'any free port')
  if (!isPort) throw new UsageError(`${option} must be a port from 1 to 65535, not ${JSON.stringify(text)}.`)
  return port
}
