/**
 * Registry: which agents there are.
 *
 * Owns making, naming, describing and ending agents. Promises that a creation that fails leaves nothing, that
 * of many who want one name one gets it, and that a deleted agent's name and port are free at once. Refuses to
 * know what schedules, skills or runs need: they register with `createRegistryHooks`.
 */
export { type AgentCreated, type AgentHooks, type CreatedFacts, createAgentHooks } from './hooks.ts'
export { managementRoutes } from './routes.ts'
export { type AgentManagement, type AgentManagementDeps, createAgentManagement } from './service.ts'
export { ensureSystemAgent } from './system-agent.ts'
