/**
 * Playbooks: skills in an agent's workspace that people start by name. Owns no table: playbooks are read from
 * the running agent, and a playbook run is a task. A connector sees and starts exposed playbooks only.
 */
export { playbookRoutes } from './routes.ts'
export { createPlaybooks, type Playbooks, type PlaybooksDeps, type Starter } from './service.ts'
