import { ApiError } from '@roost/contracts/client'
import { plainText } from './output.ts'

/** What a script can tell from how a command ended. */
export const exitCodes = {
  ok: 0,
  /** The platform refused, or the run failed. */
  failed: 1,
  /** The command line cannot be understood. */
  usage: 2,
  /** Not signed in, or not allowed. */
  denied: 3,
  /** There is no such thing, or none that you can reach. */
  notFound: 4,
  /** The platform cannot be reached. */
  unreachable: 5,
  /** Nothing is wrong, and it is not over yet: ask again later. */
  pending: 6,
  /** Ctrl-C. */
  interrupted: 130,
  /** Nobody reads the output any more. As for programs that SIGPIPE ends. */
  readerGone: 141,
} as const

export const exitCodeLines = [
  'Exit codes: 0 done, 1 refused or failed, 2 not understood, 3 not signed in or not allowed, 4 not found,',
  '5 the platform cannot be reached, 6 not over yet, 130 interrupted.',
]

/** A command cannot go on, for a reason that a person can act on. */
export class CommandFailed extends Error {
  readonly code: number
  constructor(message: string, code: number = exitCodes.failed) {
    super(message)
    this.name = 'CommandFailed'
    this.code = code
  }
}

/** How a command ended that could not do its work: the platform's name for it, or ours; words; the exit code. */
export type Ending = { error: string; message: string; code: number }

const unreadable = 'The answer cannot be read: it is not from Roost, or it was cut'

/** How a command that threw is told to its user; null: it is a fault of ours. */
export function endingOf(error: unknown): Ending | null {
  if (error instanceof CommandFailed) return { error: 'failed', message: error.message, code: error.code }
  if (error instanceof ApiError) {
    const { message, status, body } = error
    if (body) return { error: body.error, message, code: codeOf(status) }
    return { error: 'unexpected_reply', message: `${unreadable} (HTTP ${status}).`, code: codeOf(status) }
  }
  // What `fetch` throws when nobody answers.
  if (error instanceof TypeError && error.message === 'fetch failed') {
    return {
      error: 'unreachable',
      message: `The platform cannot be reached: ${reasonOf(error.cause)}.`,
      code: exitCodes.unreachable,
    }
  }
  return null
}

/** On the error output: one line of words for a person, one object for a script. */
export function tellEnding({ error, message, code }: Ending, isJson = false): number {
  const name = error === 'failed' || error === 'unreachable' ? '' : ` (${error})`
  console.error(isJson ? JSON.stringify({ error, message }) : `roost: ${plainText(message)}${name}`)
  return code
}

function codeOf(status: number): number {
  if (status === 401 || status === 403) return exitCodes.denied
  if (status === 404) return exitCodes.notFound
  return exitCodes.failed
}

function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0])
  return cause instanceof Error ? cause.message : 'no answer'
}
