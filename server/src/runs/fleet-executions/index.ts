/**
 * Fleet: runs of all agents that a caller reaches, as one list and as figures. Reads only; owns nothing.
 * Promises that nobody sees more here than on the pages of the agents one by one, that a search never finds
 * what its asker may not read, and that no figure opens the rows it counts.
 */

export { fleetExecutionRoutes } from './routes.ts'
export { createFleetExecutions, type FleetExecutions, type FleetExecutionsDeps } from './service.ts'
