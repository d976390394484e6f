import type { IncomingMessage, ServerResponse } from 'node:http'
import { isPermanent, type Provider } from './provider-rules.ts'

/** A request that the broker refuses. `code` is set where the refusal has its own name. */
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

/** The client disconnected, or the run has ended. */
export class Aborted extends Error {
  constructor() {
    super('broken off')
    this.name = 'Aborted'
  }
}

export type Failure = { status: number; message: string; code: string | null; isExpected: boolean }

export function failureOf(error: unknown): Failure {
  if (error instanceof Refused) {
    const { status, message, code } = error
    return { status, message, code, isExpected: true }
  }
  if (error instanceof UpstreamDown || error instanceof Aborted) {
    return { status: 502, message: error.message, code: null, isExpected: true }
  }
  return { status: 502, message: 'The broker could not do this.', code: null, isExpected: false }
}

/** Writes the error in the provider's format; ends a response that has started. */
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
    ...(isPermanent(status) || code !== null ? { 'x-should-retry': 'false' } : {}),
    // The rest of the request is discarded, so the connection cannot be reused.
    connection: 'close',
  })
  response.end(body)
  request.resume()
}

/** `requestId` is also in the header `X-Request-ID`; only Anthropic's format has a field for it. */
export type BrokerError = { status: number; message: string; code?: string; requestId?: string }

type ErrorNames = { anthropic: string; google: string }

const errorNames: Record<number, ErrorNames> = {
  400: { anthropic: 'invalid_request_error', google: 'INVALID_ARGUMENT' },
  401: { anthropic: 'authentication_error', google: 'UNAUTHENTICATED' },
  402: { anthropic: 'billing_error', google: 'FAILED_PRECONDITION' },
  403: { anthropic: 'permission_error', google: 'PERMISSION_DENIED' },
  404: { anthropic: 'not_found_error', google: 'NOT_FOUND' },
  413: { anthropic: 'request_too_large', google: 'INVALID_ARGUMENT' },
  415: { anthropic: 'invalid_request_error', google: 'INVALID_ARGUMENT' },
  502: { anthropic: 'api_error', google: 'UNAVAILABLE' },
  503: { anthropic: 'api_error', google: 'UNAVAILABLE' },
  504: { anthropic: 'api_error', google: 'DEADLINE_EXCEEDED' },
}

/** Body of the broker's own errors, in the format of the provider. */
export function errorBody(provider: Provider, { status, message, code, requestId }: BrokerError): string {
  const names = errorNames[status] ?? { anthropic: 'api_error', google: 'INTERNAL' }
  switch (provider) {
    case 'anthropic':
      return JSON.stringify({
        type: 'error',
        error: { type: code ?? names.anthropic, message },
        request_id: requestId,
      })
    case 'google':
      return JSON.stringify({ error: { code: status, message, status: names.google } })
    case 'openai':
      return JSON.stringify({
        error: { message, type: names.anthropic, param: null, code: code ?? names.anthropic },
      })
  }
}
