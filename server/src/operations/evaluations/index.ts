/**
 * Evaluations: scores that people give an agent or one of its runs.
 *
 * Owns the table `agent_evaluations`. Promises that each comes from a signed-in person: no key can write one, not even
 * that of the agent's owner. They are deleted with their agent.
 */
export { evaluationRoutes } from './routes.ts'
export { createEvaluations, type Evaluations, type EvaluationsDeps } from './service.ts'
