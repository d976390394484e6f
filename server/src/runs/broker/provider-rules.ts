import type { IncomingHttpHeaders } from 'node:http'
import { parseModelOverride } from '@roost/contracts/kit/model'
import type { RuntimeName } from '@roost/contracts/link/messages'
import type { ModelProvider } from '@roost/contracts/runs/provider-subscriptions'

export type Provider = ModelProvider

/** The only provider that the runs of a runtime may use. */
export const providerOfRuntime: Record<RuntimeName, Provider> = {
  'claude-code': 'anthropic',
  'gemini-cli': 'google',
  codex: 'openai',
}

/** The provider, path and model of a request, from its method and URL. */
export type RequestTarget = {
  provider: Provider
  /** Path and query for the provider, without credentials. */
  path: string
  /** The model in the path; null when it is in the body or there is none. */
  model: string | null
  /** True when the body names a model that must be checked. */
  hasModelInBody: boolean
}

/** The provider routes that runs may use: those that respond directly and report their usage. */
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

/** Returns null for an unknown provider or route. `url` is the path below `/broker/` with its query. */
export function readTarget(method: string, url: string): RequestTarget | null {
  const [path = '', query] = splitOnce(url, '?')
  const [name, rest = ''] = splitOnce(path.replace(/^\//, ''), '/')
  if (!name || !isProvider(name)) return null
  const below = `/${rest}`
  // A provider might resolve a dot segment or an escaped slash to another path.
  if (below.includes('..') || below.includes('//') || /%2f|%5c|%2e|\\/i.test(below)) return null
  for (const route of routes[name]) {
    const match = route.method === method ? route.path.exec(below) : null
    if (!match) continue
    const model = match.groups?.model ? safeDecode(match.groups.model) : null
    return {
      provider: name,
      path: below + cleanQuery(name, query),
      model,
      hasModelInBody: route.hasModelInBody,
    }
  }
  return null
}

/** True for the model families that a model override may name. */
export function isOfferedModel(model: string): boolean {
  return typeof parseModelOverride(model) === 'string'
}

/** The broker token, from any place where a client of a provider puts its key. */
export function credentialOf(headers: IncomingHttpHeaders, url: string): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const named = first(headers['x-api-key']) ?? first(headers['x-goog-api-key'])
  return bearer ?? named ?? new URLSearchParams(splitOnce(url, '?')[1] ?? '').get('key')
}

/** Adds the headers of the credential to those of the client and joins their `anthropic-beta` values. */
export function withBetas(
  own: Record<string, string | string[]>,
  credential: Record<string, string>,
): Record<string, string | string[]> {
  const betas = [own['anthropic-beta'] ?? [], credential['anthropic-beta'] ?? []].flat()
  const named = new Set(betas.flatMap((each) => each.split(',')).map((each) => each.trim()))
  named.delete('')
  return { ...own, ...credential, ...(named.size > 0 ? { 'anthropic-beta': [...named].join(',') } : {}) }
}

/** True for a request that a model answers, false for token counts and lists. */
export function callsModel({ path, model, hasModelInBody }: RequestTarget): boolean {
  const [route = ''] = splitOnce(path, '?')
  return (model !== null || hasModelInBody) && !/(\/count_tokens|:countTokens)$/.test(route)
}

/** Hop-by-hop headers, and credentials and addresses that a container must not send. */
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
  // They would hide the usage from the meter, or turn the request into another one.
  'x-goog-fieldmask',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  // The meter reads responses as they pass, so they must not be compressed.
  'accept-encoding',
])

export function forwardedRequestHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return without(headers, notForwarded)
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
  return without(headers, notReturned)
}

/** Permanent errors: clients would otherwise retry them for a minute. */
export function isPermanent(status: number): boolean {
  return [400, 401, 402, 403, 404, 405, 413, 415, 422].includes(status)
}

/**
 * Retry headers for the client. After a switch to another credential a retry is useful immediately: wait and
 * refusal concerned the previous one.
 */
export function retryHeaders(status: number, hasSwitched: boolean): Record<string, string> {
  if (hasSwitched) return { 'retry-after': '1', 'x-should-retry': 'true' }
  return isPermanent(status) ? { 'x-should-retry': 'false' } : {}
}

/** Joins the provider's base address and the path. A version that both contain appears once. */
export function upstreamUrl(base: string, path: string): URL {
  const trimmed = base.replace(/\/+$/, '')
  const version = /\/v1(?:beta|alpha)?$/.exec(trimmed)?.[0]
  const root = version && path.startsWith(`${version}/`) ? trimmed.slice(0, -version.length) : trimmed
  return new URL(root + path)
}

/** Google takes credentials, other formats and a selection of fields from the query. */
const googleParameters = new Map([
  ['alt', /^(sse|json)$/],
  ['pageSize', /./],
  ['pageToken', /./],
])

function cleanQuery(provider: Provider, query: string | undefined): string {
  const parameters = new URLSearchParams(query ?? '')
  parameters.delete('key')
  if (provider === 'google') {
    for (const [name, value] of [...parameters]) {
      if (!googleParameters.get(name)?.test(value)) parameters.delete(name)
    }
  }
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

function without(
  headers: IncomingHttpHeaders,
  excluded: ReadonlySet<string>,
): Record<string, string | string[]> {
  const out: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !excluded.has(name)) out[name] = value
  }
  return out
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)]
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
