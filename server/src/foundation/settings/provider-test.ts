import type { ProviderTest } from '@roost/contracts/foundation/platform-settings'
import type { Provider } from '@roost/contracts/foundation/settings'
import { credentialHeaders } from '../../kit/provider-credential.ts'
import type { Secret } from '../../kit/secret.ts'

export type ProviderTestDeps = {
  fetch: typeof fetch
  /** Where each provider is asked; without a trailing slash. */
  addresses: Record<Exclude<Provider, 'voice'>, string>
}

/** A provider that thinks longer is as good as away. */
const timeoutMs = 10_000

/** Asks for something that costs nothing and that only a key that works is answered. Never throws. */
export function createProviderTest({ fetch, addresses }: ProviderTestDeps) {
  const questions: Record<Provider, (key: string) => [url: string, headers: Record<string, string>]> = {
    anthropic: (key) => [
      `${addresses.anthropic}/v1/models?limit=1`,
      { ...credentialHeaders('anthropic', key), 'anthropic-version': '2023-06-01' },
    ],
    google: (key) => [`${addresses.google}/v1beta/models?pageSize=1`, credentialHeaders('google', key)],
    openai: (key) => [`${addresses.openai}/models`, credentialHeaders('openai', key)],
    github: (key) => [`${addresses.github}/user`, { authorization: `Bearer ${key}`, 'user-agent': 'roost' }],
    // Speech is the same provider's.
    voice: (key) => questions.google(key),
  }

  return async (provider: Provider, key: Secret): Promise<ProviderTest> => {
    const [url, headers] = questions[provider](key.reveal())
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      const reply = await fetch(url, { headers, signal, redirect: 'error' })
      await reply.body?.cancel()
      return verdictOf(reply.status)
    } catch {
      // The fault's text may hold the request; that it could not be asked is all there is to say.
      return { ok: false, status: 'unreachable', message: 'The provider cannot be reached.' }
    }
  }
}

export type TestProvider = ReturnType<typeof createProviderTest>

export function verdictOf(status: number): ProviderTest {
  if (status >= 200 && status < 300) return { ok: true, status: 'valid', message: 'The key works.' }
  if (status === 429)
    return { ok: false, status: 'rate_limited', message: 'The provider limits the rate of this key.' }
  // Google says 400 to a key that is none.
  if ([400, 401, 403].includes(status))
    return { ok: false, status: 'invalid', message: `The provider refuses the key (${status}).` }
  return { ok: false, status: 'unreachable', message: `The provider answers ${status}.` }
}

/** Where the API of a git host is: the public one has a name of its own. */
export function gitApiAddress(gitBaseUrl: string): string {
  const base = gitBaseUrl.replace(/\/+$/, '')
  return base === 'https://github.com' ? 'https://api.github.com' : `${base}/api/v3`
}
