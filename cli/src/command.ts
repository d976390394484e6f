import { type ParseArgsConfig, parseArgs } from 'node:util'

/** One word after `roost`. `run` answers the exit code. */
export type Command = {
  name: string
  /** One line for the list of commands. */
  summary: string
  /** What follows the name, one line for each form or option. */
  usage: string[]
  /** What may follow the name. */
  verbs?: string[]
  run(args: string[]): Promise<number>
}

/** The command line cannot be understood; the message is a sentence. Exit code 2. */
export class UsageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UsageError'
  }
}

/** Node's parser, with sentences for a person in place of its errors. */
export function readArguments<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const unknown = /^Unknown option '([^']+)'/.exec(message)?.[1]
    if (unknown) throw new UsageError(`There is no option ${unknown}.`, { cause: error })
    const positional = /^Unexpected argument '([^']+)'/.exec(message)?.[1]
    if (positional) throw new UsageError(`${JSON.stringify(positional)} is not understood.`, { cause: error })
    throw new UsageError(`${message.split('\n')[0]?.replace(/\.?$/, '.')}`, { cause: error })
  }
}

/** A TCP port in the words of a command line; `zero` allows 0 for any free one. */
export function readPort(option: string, text: string, zero: 'no zero' | 'zero is any' = 'no zero'): number {
  const port = Number(text)
  const isPort = /^\d{1,5}$/.test(text) && port <= 65_535 && (port > 0 || zero === 'zero is any')
  if (!isPort) throw new UsageError(`${option} must be a port from 1 to 65535, not ${JSON.stringify(text)}.`)
  return port
}
