import type { IncomingMessage, ServerResponse } from 'node:http'
import { errorBody } from './errors.ts'
import type { Provider } from './provider-rules.ts'
import { isHopeless } from './provider-rules.ts'

/** Not let through: the status and sentence of the answer; `code` where the refusal has a name of its own. */
export class Refused extends Error {
  readonly status: number
  readonly code: string | null
  constructor(status: number, message: string, code: string | null = null) {
    super(message)
    this.name = 'Refused'
    this.status = status
    this.code = code
  }
}

export class UpstreamDown extends Error {
  constructor(options: { cause: unknown }) {
    super('The model provider cannot be reached.', options)
    this.name = 'UpstreamDown'
  }
}

/** The client went away, or the run has ended. */
export class BrokenOff extends Error {
  constructor() {
    super('broken off')
    this.name = 'BrokenOff'
  }
}

export type Failure = { status: number; message: string; code: string | null; isExpected: boolean }

export function failureOf(error: unknown): Failure {
  if (error instanceof Refused) {
    const { status, message, code } = error
    return { status, message, code, isExpected: true }
  }
  if (error instanceof UpstreamDown || error instanceof BrokenOff) {
    return { status: 502, message: error.message, code: null, isExpected: true }
  }
  return { status: 502, message: 'The broker could not do this.', code: null, isExpected: false }
}

/** Answers in the provider's form; where the answer has begun already, it ends there. */
export function answerFailure(
  request: IncomingMessage,
  response: ServerResponse,
  provider: Provider,
  { status, message, code }: Failure,
): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const requestId = response.getHeader('x-request-id')?.toString()
  const body = errorBody(provider, {
    status,
    message,
    ...(code === null ? {} : { code }),
    ...(requestId === undefined ? {} : { requestId }),
  })
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(isHopeless(status) || code !== null ? { 'x-should-retry': 'false' } : {}),
    // What is left of the request is thrown away, so the connection is of no more use.
    connection: 'close',
  })
  response.end(body)
  request.resume()
}
