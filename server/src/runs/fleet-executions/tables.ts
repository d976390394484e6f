import type { ExecutionRow } from '../executions/index.ts'

/** Read only: the rows belong to `executions`. */
export type FleetTables = { executions: ExecutionRow }
