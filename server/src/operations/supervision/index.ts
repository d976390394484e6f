/**
 * Supervision: puts together what looks after all agents, monitoring, its alerts and the fleet.
 * Owns nothing; decides nothing.
 */
export { createSupervision, type Supervision, type SupervisionDeps } from './supervision.ts'
