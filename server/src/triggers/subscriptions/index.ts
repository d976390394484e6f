/**
 * Subscriptions: wake agents when other agents emit an event or end a task.
 *
 * Owns the tables `event_subscriptions`, `agent_events` and `agent_event_deliveries`. A subscriber needs permission
 * to call the source. Each match makes one run or stores why it was dropped, even if the platform is killed in
 * between. Text of others is marked as data and has no secrets. A chain of events has the same limit as one of calls.
 */
export { subscriptionRoutes } from './routes.ts'
export { createSubscriptions, eventRetention, type Subscriptions, type SubscriptionsDeps } from './service.ts'
