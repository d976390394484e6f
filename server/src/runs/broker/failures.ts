import type { IncomingMessage, ServerResponse } from 'node:http'
import { errorBody } from './errors.ts'
import type { Provider } from './prices.ts'
import { isHopeless } from './provider-rules.ts'

/** Not let through: the status and sentence of the answer. */
export class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.name = 'Refused'
    this.status = status
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

export type Failure = { status: number; message: string; isExpected: boolean }

export function failureOf(error: unknown): Failure {
  if (error instanceof Refused) return { status: error.status, message: error.message, isExpected: true }
  if (error instanceof UpstreamDown || error instanceof BrokenOff) {
    return { status: 502, message: error.message, isExpected: true }
  }
  return { status: 502, message: 'The broker could not do this.', isExpected: false }
}

/** Answers in the provider's form; where the answer has begun already, it ends there. */
export function answerFailure(
  request: IncomingMessage,
  response: ServerResponse,
  provider: Provider,
  { status, message }: Failure,
): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const isNotConfigured = status === 503
  const code = isNotConfigured ? { code: 'not_configured' } : {}
  const body = errorBody(provider, { status, message, ...code })
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(isHopeless(status) || isNotConfigured ? { 'x-should-retry': 'false' } : {}),
    // What is left of the request is thrown away, so the connection is of no more use.
    connection: 'close',
  })
  response.end(body)
  request.resume()
}
