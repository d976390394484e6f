import type { Runtime } from '@roost/contracts/agents/agent'
import type { AuthMode, ModelProvider } from '@roost/contracts/runs/provider-subscriptions'
import { z } from 'zod'

/** The model provider that a runtime uses. */
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

/** A subscription takes precedence over a key, even over one that would work. */
export function authModeOf(has: { subscription: boolean; apiKey: boolean }): AuthMode {
  if (has.subscription) return 'subscription'
  return has.apiKey ? 'api_key' : 'not_configured'
}

/** Why a provider rejects a credential; null when the credential is not the cause. */
export type Failure = { kind: 'limited' | 'refused'; until: Date }

type Headers = Record<string, string | string[] | undefined>

/** `body` is read only for refusals whose reason is in it; null otherwise. */
export type ProviderReply = { status: number; headers: Headers; body: string | null }

export function failureOf({ status, headers, body }: ProviderReply, now: Date): Failure | null {
  if (status === 429) return { kind: 'limited', until: limitEnd(headers, retryDelayOf(body), now) }
  if ([401, 402, 403].includes(status) || isKeyRefused(status, body))
    return { kind: 'refused', until: new Date(now.getTime() + refusedForMs) }
  return null
}

/** Google reports a wrong or expired key as a bad request with a reason in the details. */
function isKeyRefused(status: number, body: string | null): boolean {
  return status === 400 && detailsOf(body).some(({ reason }) => keyReasons.has(reason))
}
const keyReasons: ReadonlySet<unknown> = new Set(['API_KEY_INVALID', 'API_KEY_EXPIRED'])

/** Wait in milliseconds from Google's `RetryInfo`; null without one. */
function retryDelayOf(body: string | null): number | null {
  for (const { retryDelay } of detailsOf(body)) {
    const seconds = typeof retryDelay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(retryDelay)?.[1] : undefined
    if (seconds !== undefined) return Number(seconds) * 1000
  }
  return null
}

/** The entries of `error.details`, also when the response is a list (a stream). */
function detailsOf(body: string | null): Record<string, unknown>[] {
  const parsed = errorBody.safeParse(body)
  return parsed.success ? parsed.data : []
}

const error = z.object({ error: z.object({ details: z.array(z.record(z.string(), z.unknown())) }) })
const errorBody = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown
    } catch {
      context.addIssue('not JSON')
      return z.NEVER
    }
  })
  .pipe(z.union([error, z.tuple([error]).transform(([first]) => first)]))
  .transform((whole) => whole.error.details)

const refusedForMs = 3_600_000
const limitedForMs = 300_000
/** Keeps two limited subscriptions from being used alternately, whatever wait they report. */
const minLimitMs = 60_000
/** The longest window of any provider; longer values are treated as mistakes. */
const maxLimitMs = 7 * 86_400_000

/**
 * A plan reports when its window resets. Other limits report a wait in a header, in the body, or not at all.
 */
function limitEnd(headers: Headers, delayMs: number | null, now: Date): Date {
  const reset = Number(textOf(headers['anthropic-ratelimit-unified-reset']) ?? Number.NaN) * 1000
  const after = textOf(headers['retry-after'])
  const seconds = Number(after ?? Number.NaN) * 1000
  const waits = [
    reset - now.getTime(),
    seconds,
    Date.parse(after ?? '') - now.getTime(),
    delayMs ?? Number.NaN,
  ]
  const wait = waits.find((ms) => Number.isFinite(ms) && ms > 0) ?? limitedForMs
  return new Date(now.getTime() + Math.min(Math.max(wait, minLimitMs), maxLimitMs))
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

/**
 * The next usable one after `currentId` by name, wrapping around; null when all others are limited or
 * refused.
 */
export function nextOf<C extends Candidate>(
  candidates: readonly C[],
  currentId: string,
  at: string,
): C | null {
  const inOrder = candidates.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const current = inOrder.findIndex(({ id }) => id === currentId)
  const ring = [...inOrder.slice(current + 1), ...inOrder.slice(0, Math.max(current, 0))]
  return ring.find((each) => isFree(each, at)) ?? null
}

/** True when no limit or refusal is in force. */
export function isFree(each: Pick<Candidate, 'limited_until' | 'refused_until'>, at: string): boolean {
  return !isAfter(each.limited_until, at) && !isAfter(each.refused_until, at)
}

/** Compares timestamps; null means never. */
export function isAfter(until: string | null, at: string): boolean {
  return until !== null && until > at
}

const bucketMs = 300_000

/** Start of the five-minute bucket that contains a time. */
export function bucketOf(now: Date): Date {
  return new Date(Math.floor(now.getTime() / bucketMs) * bucketMs)
}
