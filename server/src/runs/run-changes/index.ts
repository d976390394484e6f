/** Run changes: what a run changed in the workspace, read from the agent's history. */
export { type RunChangesDeps, runChangesRoutes } from './routes.ts'
