/**
 * Bases: volumes with the content of a record, on which the workspaces of forks are layered. Owns the table
 * `workspace_bases`. An engine without layers has none, and forks are filled by the agent program.
 */
export { type Bases, createBases } from './bases.ts'
export { baseStore } from './store.ts'
