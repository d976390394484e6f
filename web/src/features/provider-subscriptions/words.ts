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

/** Whom a runtime asks for models. */
export const providerOf: Record<Runtime, ModelProvider> = {
  'claude-code': 'anthropic',
  'gemini-cli': 'google',
  codex: 'openai',
}

/** `Anthropic · max · 20x`. */
export function kindOf({ provider, subscription_type, rate_limit_tier }: Subscription): string {
  return [providerNames[provider], subscription_type, rate_limit_tier].filter(Boolean).join(' · ')
}

/** What follows for agents when a subscription is deleted. */
export function deletionWords(agents: readonly string[]): string {
  const gone = 'The token is deleted and cannot be shown again.'
  if (agents.length === 0) return `No agent uses it. ${gone}`
  const who = agents.length === 1 ? `${agents[0]} asks` : `${listed(agents)} ask`
  return `${who} with the platform’s own key from the next request on. ${gone}`
}

const mostNamed = 6

/** `a, b and c`; beyond a few their number. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, names.length > mostNamed ? mostNamed - 1 : mostNamed)
  const rest = names.length - shown.length
  const parts = rest > 0 ? [...shown, `${rest} more`] : shown
  const last = parts.at(-1) ?? ''
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${last}` : last
}

/** The verdict of a provider on a token. */
export function testWords({ status, message }: SubscriptionTest): string {
  switch (status) {
    case 'ok':
      return 'The provider takes this token.'
    case 'rate_limited':
      return 'The token is good, and at its limit now.'
    case 'invalid_token':
    case 'unreachable':
      return message ?? 'The provider does not take this token.'
  }
}
