/**
 * Demo: agents with runs, a schedule, a canvas and a question, for people who try the platform without a model key.
 *
 * Owns the table `demo_agents`. Creates each demo agent once per installation, and never again after it was removed or
 * if a person has an agent of that name. Runs of the last days are written as history; the newest are real runs.
 */
export { demoRoutes } from './routes.ts'
export { createDemo, type Demo, type DemoDeps } from './service.ts'
