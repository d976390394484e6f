/**
 * Provider subscriptions: named credentials of model providers that agents share.
 *
 * Owns the tables `provider_subscriptions`, `agent_provider_subscriptions` and `provider_subscription_usage`. Only the
 * broker receives a token. An assignment applies from the next request on. An agent whose subscription is limited
 * switches once, however many of its runs notice the limit.
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
export { sealedColumns } from './wire.ts'
