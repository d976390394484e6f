/**
 * Supervision: puts together what looks after all agents, monitoring and the alerts that come of it.
 * Owns nothing; decides nothing.
 */
export { createSupervision, type Supervision, type SupervisionDeps } from './supervision.ts'
