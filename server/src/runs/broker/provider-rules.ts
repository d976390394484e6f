import type { IncomingHttpHeaders } from 'node:http'
import { parseModelOverride } from '@roost/contracts/kit/model'
import type { ModelProvider } from '@roost/contracts/runs/provider-subscriptions'

export type Provider = ModelProvider

/** What the broker asks of a request, decided from its method, path and headers alone. */
export type Asked = {
  provider: Provider
  /** Path and query for the provider, without credentials. */
  path: string
  /** The model of the path; null when it stands in the body, or there is none. */
  model: string | null
  /** The body names a model that has to be looked at. */
  hasModelInBody: boolean
}

/** The routes of each provider that a run may use: those that answer at once and say what they used. */
const routes: Record<Provider, readonly { method: string; path: RegExp; hasModelInBody: boolean }[]> = {
  anthropic: [
    { method: 'POST', path: /^\/v1\/messages(\/count_tokens)?$/, hasModelInBody: true },
    { method: 'GET', path: /^\/v1\/models(\/[^/]+)?$/, hasModelInBody: false },
  ],
  google: [
    {
      method: 'POST',
      path: /^\/v1(?:beta|alpha)?\/models\/(?<model>[^/:]+):(?:generateContent|streamGenerateContent|countTokens)$/,
      hasModelInBody: false,
    },
    { method: 'GET', path: /^\/v1(?:beta|alpha)?\/models(\/[^/]+)?$/, hasModelInBody: false },
  ],
  openai: [
    {
      method: 'POST',
      path: /^\/v1\/(responses|responses\/compact|chat\/completions)$/,
      hasModelInBody: true,
    },
    { method: 'GET', path: /^\/v1\/models(\/[^/]+)?$/, hasModelInBody: false },
  ],
}

export function isProvider(name: string): name is Provider {
  return Object.hasOwn(routes, name)
}

/** Null for a provider or a route that is not offered. `url` is the path below `/broker/`, with its query. */
export function readAsked(method: string, url: string): Asked | null {
  const [path = '', query] = splitOnce(url, '?')
  const [name, rest = ''] = splitOnce(path.replace(/^\//, ''), '/')
  if (!name || !isProvider(name)) return null
  const below = `/${rest}`
  // A dot segment or an escaped slash could mean another path to the provider than it does here.
  if (below.includes('..') || below.includes('//') || /%2f|%5c|%2e|\\/i.test(below)) return null
  for (const route of routes[name]) {
    const match = route.method === method ? route.path.exec(below) : null
    if (!match) continue
    const model = match.groups?.model ? safeDecode(match.groups.model) : null
    return { provider: name, path: below + cleanQuery(query), model, hasModelInBody: route.hasModelInBody }
  }
  return null
}

/** The families of the model-override rule. */
export function isOfferedModel(model: string): boolean {
  return typeof parseModelOverride(model) === 'string'
}

/** The broker token, wherever a provider's client puts its key. */
export function credentialOf(headers: IncomingHttpHeaders, url: string): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const named = first(headers['x-api-key']) ?? first(headers['x-goog-api-key'])
  return bearer ?? named ?? new URLSearchParams(splitOnce(url, '?')[1] ?? '').get('key')
}

/** Those of the credential beside the client's own; betas of both are asked for. */
export function withBetas(
  own: Record<string, string | string[]>,
  credential: Record<string, string>,
): Record<string, string | string[]> {
  const betas = [own['anthropic-beta'] ?? [], credential['anthropic-beta'] ?? []].flat()
  const named = new Set(betas.flatMap((each) => each.split(',')).map((each) => each.trim()))
  named.delete('')
  return { ...own, ...credential, ...(named.size > 0 ? { 'anthropic-beta': [...named].join(',') } : {}) }
}

/** A request that is answered by a model, and not with a count or a list. */
export function asksModel({ path, model, hasModelInBody }: Asked): boolean {
  return (model !== null || hasModelInBody) && !/count_?tokens/i.test(path)
}

/** Of one hop, or a credential or an address that the container has no business to send. */
const notForwarded = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'x-goog-user-project',
  'openai-organization',
  'openai-project',
  'cookie',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  // Answers are read as they pass, so they must come as they are.
  'accept-encoding',
])

export function forwardedRequestHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return kept(headers, notForwarded)
}

const notReturned = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'set-cookie',
  'anthropic-organization-id',
  'openai-organization',
  'openai-project',
])

export function forwardedReplyHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return kept(headers, notReturned)
}

/** Answers that stay what they are however often one asks: clients would else repeat them for a minute. */
export function isHopeless(status: number): boolean {
  return [400, 401, 402, 403, 404, 405, 413, 415, 422].includes(status)
}

/**
 * What is said to a client about asking again. Once the agent asks with another credential, the wait and the
 * refusal were those of the one that is left.
 */
export function retryHeaders(status: number, hasMoved: boolean): Record<string, string> {
  if (hasMoved) return { 'retry-after': '1', 'x-should-retry': 'true' }
  return isHopeless(status) ? { 'x-should-retry': 'false' } : {}
}

/** Where a provider is asked: its base with the path. A base that ends in the version says it once. */
export function upstreamUrl(base: string, path: string): URL {
  const trimmed = base.replace(/\/+$/, '')
  const version = /\/v1(?:beta|alpha)?$/.exec(trimmed)?.[0]
  const root = version && path.startsWith(`${version}/`) ? trimmed.slice(0, -version.length) : trimmed
  return new URL(root + path)
}

function cleanQuery(query: string | undefined): string {
  const parameters = new URLSearchParams(query ?? '')
  parameters.delete('key')
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

function kept(headers: IncomingHttpHeaders, without: ReadonlySet<string>): Record<string, string | string[]> {
  const out: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !without.has(name)) out[name] = value
  }
  return out
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)]
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
