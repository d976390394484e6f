/**
 * Subscriptions: agents are woken when others emit an event, or end a task.
 *
 * Owns the tables `event_subscriptions`, `agent_events` and `agent_event_deliveries`. Promises that only who may
 * call an agent hears it, that each match is one run or says why it was dropped, however often the platform was
 * killed meanwhile, that what others wrote comes marked as data and without secrets, and that a chain of events
 * ends as one of calls does. Refuses to know how a run is worked on: it asks `dispatch`.
 */
export { eventRetention } from './retention.ts'
export { subscriptionRoutes } from './routes.ts'
export { createSubscriptions, type Subscriptions, type SubscriptionsDeps } from './service.ts'
