import type { Secret } from '../../kit/secret.ts'
import type { Log } from '../../ports/log.ts'
import type { Usage } from '../executions/index.ts'
import type { InUse, ProviderReply } from '../provider-subscriptions/index.ts'
import { Refused } from './failures.ts'
import type { Provider } from './provider-rules.ts'

/** The credential that pays for one request. */
export type WireCredential = {
  provider: Provider
  key: Secret
  /** Counts for the subscription's statistics. Never rejects. */
  used(usage: Usage): Promise<void>
  /** Returns true when the agent uses another credential from now on. Never rejects. */
  answered(reply: ProviderReply): Promise<boolean>
}

export type WireCredentialDeps = {
  log: Pick<Log, 'error'>
  /** The agent's subscription with this provider; null for none. */
  subscription(agentId: string, provider: Provider): Promise<InUse | null>
  /** The platform's own key; null when none is configured. */
  providerKey(provider: Provider): Secret | null
}

/** Throws `Refused` when no credential is available. */
export async function wireCredentialOf(
  { log, subscription, providerKey }: WireCredentialDeps,
  { agentId, provider }: { agentId: string; provider: Provider },
): Promise<WireCredential> {
  const assigned = await opened()
  if (assigned) {
    return {
      provider,
      key: assigned.token,
      async used({ requests, input_tokens, output_tokens, cost_micros, is_cost_estimated }) {
        const cost_estimated = is_cost_estimated ? 1 : 0
        try {
          await assigned.used({ requests, input_tokens, output_tokens, cost_micros, cost_estimated })
        } catch (error) {
          // The run has its cost already, and the answer is paid for.
          log.error({ provider, agent_id: agentId, err: error }, 'use of a subscription not counted')
        }
      },
      async answered(reply) {
        try {
          return await assigned.answered(reply)
        } catch (error) {
          // Fails open: the response passes unchanged, and the next one reports the same limit.
          log.error({ provider, agent_id: agentId, err: error }, 'a subscription at its limit was not noted')
          return false
        }
      },
    }
  }
  const key = providerKey(provider)
  if (key) return { provider, key, used: async () => {}, answered: async () => false }
  const message = `not_configured: this platform has no key for ${provider}. An admin sets one.`
  throw new Refused(503, message, 'not_configured')

  /** Fails closed: the platform key does not replace a token that cannot be unsealed. */
  async function opened(): Promise<InUse | null> {
    try {
      return await subscription(agentId, provider)
    } catch (error) {
      log.error({ provider, agent_id: agentId, err: error }, 'the subscription of an agent cannot be read')
      const unread = "not_configured: the agent's subscription cannot be read. An admin adds it again."
      throw new Refused(503, unread, 'not_configured')
    }
  }
}
