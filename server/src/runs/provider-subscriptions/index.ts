/**
 * Provider subscriptions: named credentials of model providers that agents share.
 *
 * Owns the tables `provider_subscriptions`, `agent_provider_subscriptions` and `provider_subscription_usage`.
 * Promises that a token leaves this feature to the broker alone, that an assignment counts from the next request
 * on, and that an agent whose subscription is limited moves once, however many of its runs find that out. Refuses
 * to know how a request is made.
 */
export { providerSubscriptionRoutes } from './routes.ts'
export type { ProviderReply } from './rules.ts'
export {
  type AuthOf,
  createProviderSubscriptions,
  type ProviderSubscriptions,
  type ProviderSubscriptionsDeps,
} from './service.ts'
export type { InUse } from './wire.ts'
