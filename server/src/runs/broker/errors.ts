import type { Provider } from './provider-rules.ts'

/** `requestId`: also in the header `X-Request-ID`; only Anthropic's form has a field for it. */
export type BrokerError = { status: number; message: string; code?: string; requestId?: string }

type Words = { anthropic: string; google: string }

const words: Record<number, Words> = {
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

/** The broker's own refusals, in the form that the provider's clients read. */
export function errorBody(provider: Provider, { status, message, code, requestId }: BrokerError): string {
  const word = words[status] ?? { anthropic: 'api_error', google: 'INTERNAL' }
  switch (provider) {
    case 'anthropic':
      return JSON.stringify({
        type: 'error',
        error: { type: code ?? word.anthropic, message },
        request_id: requestId,
      })
    case 'google':
      return JSON.stringify({ error: { code: status, message, status: word.google } })
    case 'openai':
      return JSON.stringify({
        error: { message, type: word.anthropic, param: null, code: code ?? word.anthropic },
      })
  }
}
