/**
 * Playbooks: skills of an agent's workspace that people start by name.
 *
 * Owns no table: what there is is asked of the running agent, and a run is a task. Promises that a connector is
 * told of exposed playbooks alone and can start no other one. Refuses to know how a playbook came into the
 * workspace, and how a task is worked on.
 */
export { playbookRoutes } from './routes.ts'
export { createPlaybooks, type Playbooks, type PlaybooksDeps, type Starter } from './service.ts'
