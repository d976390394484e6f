import { ApiError } from '@roost/contracts/client'
import { styled } from '../terminal/style.ts'
import { plainText } from './output.ts'

/** Exit codes of client commands, stable for scripts. */
export const exitCodes = {
  ok: 0,
  /** The platform refused, or the run failed. */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
  /** Not signed in, or not allowed. */
  denied: 3,
  /** Not found, or no access. */
  notFound: 4,
  /** The platform cannot be reached. */
  unreachable: 5,
  /** Not finished yet; ask again later. */
  pending: 6,
  /** Ctrl-C. */
  interrupted: 130,
  /** The reader closed the pipe; the code of a program that SIGPIPE ends. */
  brokenPipe: 141,
} as const

export const exitCodeLines = [
  'Exit codes: 0 success, 1 refused or failed, 2 invalid command line, 3 not signed in or not allowed,',
  '4 not found or no access, 5 platform unreachable, 6 not finished yet, 130 interrupted.',
]

/** A command failed for a reason that the user can act on. */
export class CommandFailed extends Error {
  readonly code: number
  constructor(message: string, code: number = exitCodes.failed) {
    super(message)
    this.name = 'CommandFailed'
    this.code = code
  }
}

/** A failed command: the error name of the platform or of this command line, a sentence and the exit code. */
export type Failure = { error: string; message: string; code: number }

const unreadableReply = 'The response cannot be read: it is not from Roost, or it is incomplete'

/** Describes an expected error to the user; returns null for a bug. */
export function failureOf(error: unknown): Failure | null {
  if (error instanceof CommandFailed) return { error: 'failed', message: error.message, code: error.code }
  if (error instanceof ApiError) {
    const { message, status, body } = error
    if (body) return { error: body.error, message, code: exitCodeOfStatus(status) }
    return {
      error: 'unexpected_reply',
      message: `${unreadableReply} (HTTP ${status}).`,
      code: exitCodeOfStatus(status),
    }
  }
  // `fetch` throws this when there is no answer.
  if (error instanceof TypeError && error.message === 'fetch failed') {
    return {
      error: 'unreachable',
      message: `The platform cannot be reached: ${reasonOf(error.cause)}. Check the address and that it is running.`,
      code: exitCodes.unreachable,
    }
  }
  return null
}

/** Writes one line for people, or one JSON object for scripts, to standard error; returns the exit code. */
export function reportFailure({ error, message, code }: Failure, isJson = false): number {
  const name = error === 'failed' || error === 'unreachable' ? '' : ` (${error})`
  console.error(
    isJson
      ? JSON.stringify({ error, message })
      : `${styled('red', 'roost:', process.stderr)} ${plainText(message)}${name}`,
  )
  return code
}

function exitCodeOfStatus(status: number): number {
  if (status === 401 || status === 403) return exitCodes.denied
  if (status === 404) return exitCodes.notFound
  return exitCodes.failed
}

function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0])
  return cause instanceof Error ? cause.message : 'no answer'
}
