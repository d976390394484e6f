/**
 * Operator queue: what agents and the platform ask people, and what people answered.
 *
 * Owns the table `operator_items`. Promises that one of several answers at once counts, that an answer starts at
 * most one run, that a platform alert is pending once for each agent and kind, and that an agent's file and its
 * items come to say the same. Refuses to know what raises alerts: features call `raiseAlert` in their own
 * transaction, those of areas to the left through a port.
 */
export { alertRoutes } from './alert-routes.ts'
export type { AlertView } from './alert-view.ts'
export type { Alerts } from './alerts.ts'
export { operatorQueueRoutes } from './routes.ts'
export { createOperatorQueue, type OperatorQueue, type OperatorQueueDeps } from './service.ts'
