/**
 * Operator queue: questions that agents ask people, alerts that the platform raises, and the answers to both.
 *
 * Owns the table `operator_items`. Promises that one of several concurrent answers counts, that an answer starts
 * at most one run, that an alert is pending once per agent and kind, and that an agent's file and its items
 * converge. Does not know the causes of alerts: features raise them through `foundation/alerts`, whose sink it is.
 */
export type { AlertList } from './alert-list.ts'
export { alertRoutes, operatorQueueRoutes } from './routes.ts'
export { createOperatorQueue, type OperatorQueue, type OperatorQueueDeps } from './service.ts'
