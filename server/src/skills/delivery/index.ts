/**
 * Delivery: skills into the workspaces of running agents.
 *
 * Owns the table `skill_fleet_reports`. Promises that an agent is brought in line by one worker at a time, that a skill
 * whose version is there is not sent again, that nothing of the agent's own is touched, that what cannot be delivered
 * now is delivered at the next start or by the loop, and that one skill that fails holds up no other.
 */
export { createFleet, type Fleet } from './fleet.ts'
export { deliveryRoutes } from './routes.ts'
export { createDelivery, type Delivery, type DeliveryDeps } from './service.ts'
