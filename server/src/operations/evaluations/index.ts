/**
 * Evaluations: what people think of the work of an agent, or of one of its runs.
 *
 * Owns the table `agent_evaluations`. Promises that each is of a person who was there: no key writes one, not even of
 * its owner. They go with their agent.
 */
export { evaluationRoutes } from './routes.ts'
export { createEvaluations, type Evaluations, type EvaluationsDeps } from './service.ts'
