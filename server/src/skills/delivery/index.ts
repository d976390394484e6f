/**
 * Delivery: copies skills into the workspaces of running agents.
 *
 * Owns the table `skill_fleet_reports`. One worker at a time synchronizes an agent. A version that is present is not
 * sent again, and the agent's own folders are not touched. A failed delivery is repeated at the next start or by the
 * loop, and does not block other skills.
 */
export { createFleet, type Fleet } from './fleet.ts'
export { deliveryRoutes } from './routes.ts'
export { createDelivery, type Delivery, type DeliveryDeps } from './service.ts'
