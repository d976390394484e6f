/**
 * Saved views of the list of runs. Owns the table `run_views`. A view is a named filter: it shows nobody a run that the
 * list would not show. A shared view is hidden from people who cannot access the agent that it names.
 */
export { runViewRoutes } from './routes.ts'
export { createRunViews, type RunViews } from './service.ts'
