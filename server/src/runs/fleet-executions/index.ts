/**
 * Fleet executions: the runs of all agents that a caller may access, as a list and as figures. Reads only and
 * owns no table. Nobody sees more here than on the pages of the single agents. A search never finds text that
 * its caller may not read.
 */

export { createFleetCosts, type FleetCostsDeps } from './costs.ts'
export { fleetExecutionRoutes } from './routes.ts'
export { createFleetExecutions, type FleetExecutions, type FleetExecutionsDeps } from './service.ts'
