import type { ExecutionRow } from '../../runs/executions/index.ts'

/** Read only: the rows belong to `executions`. */
export type FleetCostTables = { executions: ExecutionRow }
