import type { IncomingHttpHeaders } from 'node:http'
import { anthropic } from './anthropic.ts'
import { google } from './google.ts'
import { openai } from './openai.ts'
import type { Provider, Route } from './provider.ts'

export type Routed = { provider: Provider; route: Route }

/**
 * Returns the provider and operation of a request, or null for other paths. Two providers share the path of
 * the model list; Anthropic's clients are recognized by their headers.
 */
export function routeRequest(method: string, path: string, headers: IncomingHttpHeaders): Routed | null {
  for (const provider of [anthropic, google, openai]) {
    const route = provider.route(method, path)
    if (route) return { provider: isAnthropicList(path, headers) ? anthropic : provider, route }
  }
  return null
}

/** The provider in whose format an unknown request is refused. */
export function closestProvider(path: string): Provider {
  if (path.startsWith('/v1beta') || /^\/v1\w*\/models\/.*:/.test(path)) return google
  return path.startsWith('/v1/') && !path.startsWith('/v1/messages') ? openai : anthropic
}

/** Connectivity checks of the CLIs, answered without a key. */
export function isProbe(method: string, path: string): boolean {
  return path === '/' || path.startsWith('/api/') || method === 'HEAD' || method === 'OPTIONS'
}

/** Names in model lists; other models are answered too. */
export const MODEL_NAMES: readonly string[] = [
  'claude-opus-5-5',
  'claude-sonnet-5',
  'claude-haiku-4-5',
  'gemini-3.1-pro-preview',
  'gemini-2.5-pro',
  'gemini-2.5-flash',
  'gpt-6.1-sol',
  'gpt-5.5',
]

function isAnthropicList(path: string, headers: IncomingHttpHeaders): boolean {
  if (!path.startsWith('/v1/models')) return false
  return headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined
}
