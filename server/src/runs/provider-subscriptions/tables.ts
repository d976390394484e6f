import type { ModelProvider } from '@roost/contracts/runs/provider-subscriptions'

export type ProviderSubscriptionsTable = {
  id: string
  name: string
  provider: ModelProvider
  sealed_token: string
  subscription_type: string | null
  rate_limit_tier: string | null
  /** The provider has said that it answers no more until then. */
  limited_until: string | null
  /** The provider has refused the token; it is not moved to until then. */
  refused_until: string | null
  created_at: string
  updated_at: string
}

/** Agents without a row ask with the key of the platform. */
export type AgentProviderSubscriptionsTable = {
  agent_id: string
  subscription_id: string
  assigned_at: string
  /** What somebody has assigned, while the agent is not on it; null: it is. */
  home_id: string | null
}

/** What was used in the minutes that began at `began_at`. PostgreSQL gives sums and bigints as text. */
export type ProviderSubscriptionUsageTable = {
  subscription_id: string
  began_at: string
  requests: number
  input_tokens: number
  output_tokens: number
  cost_micros: number
  /** 1: part of the cost is an estimate. */
  cost_estimated: number
  /** Requests that were limited or refused. */
  failures: number
}
