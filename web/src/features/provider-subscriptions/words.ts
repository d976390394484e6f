import type { Runtime } from '@roost/contracts/agents/agent'
import type {
  ModelProvider,
  Subscription,
  SubscriptionTest,
} from '@roost/contracts/runs/provider-subscriptions'

export const providerNames: Record<ModelProvider, string> = {
  anthropic: 'Anthropic',
  google: 'Google',
  openai: 'OpenAI',
}

/** The model provider of each runtime. */
export const providerOf: Record<Runtime, ModelProvider> = {
  'claude-code': 'anthropic',
  'gemini-cli': 'google',
  codex: 'openai',
}

/** `Anthropic · max · 20x`. */
export function kindOf({ provider, subscription_type, rate_limit_tier }: Subscription): string {
  return [providerNames[provider], subscription_type, rate_limit_tier].filter(Boolean).join(' · ')
}

/** The consequences of deleting a subscription. */
export function deletionWords(agents: readonly string[]): string {
  const warning = 'The token is deleted and cannot be shown again.'
  if (agents.length === 0) return `No agent uses it. ${warning}`
  const who = agents.length === 1 ? `${agents[0]} switches` : `${listed(agents)} switch`
  return `${who} to the platform’s key at the next request. ${warning}`
}

const maxNamed = 6

/** `a, b and c`; long lists end with a number. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, names.length > maxNamed ? maxNamed - 1 : maxNamed)
  const rest = names.length - shown.length
  const parts = rest > 0 ? [...shown, `${rest} more`] : shown
  const last = parts.at(-1) ?? ''
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${last}` : last
}

/** The result of a token test. */
export function testWords({ status, message }: SubscriptionTest): string {
  switch (status) {
    case 'ok':
      return 'The provider accepts this token.'
    case 'rate_limited':
      return 'The token is valid but currently rate limited.'
    case 'invalid_token':
    case 'unreachable':
      return message ?? 'The provider rejected this token.'
  }
}
