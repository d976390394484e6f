import type { Runtime } from '@roost/contracts/agents/agent'
import type { AuthMode, ModelProvider } from '@roost/contracts/runs/provider-subscriptions'

/** Whom a runtime asks for models. */
export function providerOfRuntime(runtime: Runtime): ModelProvider {
  switch (runtime) {
    case 'claude-code':
      return 'anthropic'
    case 'gemini-cli':
      return 'google'
    case 'codex':
      return 'openai'
  }
}

/** A subscription wins over a key, also over one that would work. */
export function authModeOf(has: { subscription: boolean; apiKey: boolean }): AuthMode {
  if (has.subscription) return 'subscription'
  return has.apiKey ? 'api_key' : 'not_configured'
}

/** Why a provider does not answer with this credential; null when it is not the credential. */
export type Failure = { kind: 'limited' | 'refused'; until: Date }

type Headers = Record<string, string | string[] | undefined>

export function failureOf(status: number, headers: Headers, now: Date): Failure | null {
  if (status === 429) return { kind: 'limited', until: limitEnd(headers, now) }
  if ([401, 402, 403].includes(status))
    return { kind: 'refused', until: new Date(now.getTime() + refusedForMs) }
  return null
}

const refusedForMs = 3_600_000
const limitedForMs = 300_000
/** Two that both are at their limit are not asked in turns, whatever they say. */
const shortestLimitMs = 60_000
/** The longest window of any provider; what is above it is a mistake of somebody. */
const longestLimitMs = 7 * 86_400_000

/** A plan's window says when it opens again; other limits say how long to wait, or nothing. */
function limitEnd(headers: Headers, now: Date): Date {
  const reset = Number(textOf(headers['anthropic-ratelimit-unified-reset']) ?? Number.NaN) * 1000
  const after = textOf(headers['retry-after'])
  const seconds = Number(after ?? Number.NaN) * 1000
  const waits = [reset - now.getTime(), seconds, Date.parse(after ?? '') - now.getTime()]
  const wait = waits.find((ms) => Number.isFinite(ms) && ms > 0) ?? limitedForMs
  return new Date(now.getTime() + Math.min(Math.max(wait, shortestLimitMs), longestLimitMs))
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

export type Candidate = {
  id: string
  name: string
  limited_until: string | null
  refused_until: string | null
}

/** The one after `currentId` in the order of names, and round; null when all others are limited too. */
export function nextOf<C extends Candidate>(
  candidates: readonly C[],
  currentId: string,
  at: string,
): C | null {
  const inOrder = candidates.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const current = inOrder.findIndex(({ id }) => id === currentId)
  const ring = [...inOrder.slice(current + 1), ...inOrder.slice(0, Math.max(current, 0))]
  return ring.find((each) => !isAfter(each.limited_until, at) && !isAfter(each.refused_until, at)) ?? null
}

/** Timestamps; null is never. */
export function isAfter(until: string | null, at: string): boolean {
  return until !== null && until > at
}

const bucketMs = 300_000

/** The beginning of the five minutes that a time lies in. */
export function bucketOf(now: Date): Date {
  return new Date(Math.floor(now.getTime() / bucketMs) * bucketMs)
}
