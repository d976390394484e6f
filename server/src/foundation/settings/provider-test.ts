import type { ProviderTest } from '@roost/contracts/foundation/platform-settings'
import type { Provider } from '@roost/contracts/foundation/settings'
import { credentialHeaders } from '../../kit/provider-credential.ts'
import type { Secret } from '../../kit/secret.ts'

export type ProviderTestDeps = {
  fetch: typeof fetch
  /** Base addresses, without a trailing slash. */
  addresses: Record<Exclude<Provider, 'voice'>, string>
}

const timeoutMs = 10_000

/** Sends a free request that succeeds only with a valid key. Never throws. */
export function createProviderTest({ fetch, addresses }: ProviderTestDeps) {
  const requests: Record<Provider, (key: string) => [url: string, headers: Record<string, string>]> = {
    anthropic: (key) => [
      `${addresses.anthropic}/v1/models?limit=1`,
      { ...credentialHeaders('anthropic', key), 'anthropic-version': '2023-06-01' },
    ],
    google: (key) => [`${addresses.google}/v1beta/models?pageSize=1`, credentialHeaders('google', key)],
    openai: (key) => [`${addresses.openai}/models`, credentialHeaders('openai', key)],
    github: (key) => [`${addresses.github}/user`, { authorization: `Bearer ${key}`, 'user-agent': 'roost' }],
    // Google provides speech too.
    voice: (key) => requests.google(key),
  }

  return async (provider: Provider, key: Secret): Promise<ProviderTest> => {
    const [url, headers] = requests[provider](key.reveal())
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      const reply = await fetch(url, { headers, signal, redirect: 'error' })
      await reply.body?.cancel()
      return verdictOf(reply.status)
    } catch {
      // The error's text can contain the request with its key, so it is dropped.
      return { ok: false, status: 'unreachable', message: 'The provider cannot be reached.' }
    }
  }
}

export type TestProvider = ReturnType<typeof createProviderTest>

export function verdictOf(status: number): ProviderTest {
  if (status >= 200 && status < 300) return { ok: true, status: 'valid', message: 'The key works.' }
  if (status === 429)
    return { ok: false, status: 'rate_limited', message: 'The provider limits the rate of this key.' }
  // Google returns 400 for an invalid key.
  if ([400, 401, 403].includes(status))
    return { ok: false, status: 'invalid', message: `The provider refuses the key (${status}).` }
  return { ok: false, status: 'unreachable', message: `The provider answers ${status}.` }
}

/** Returns the address of a git host's API. Only the public host has a separate one. */
export function gitApiAddress(gitBaseUrl: string): string {
  const base = gitBaseUrl.replace(/\/+$/, '')
  return base === 'https://github.com' ? 'https://api.github.com' : `${base}/api/v3`
}
