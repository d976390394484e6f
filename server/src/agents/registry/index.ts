/**
 * Registry: which agents there are.
 *
 * Owns making, naming, describing and ending agents. Promises that a creation that fails leaves nothing, that
 * of many who want one name one gets it, and that a deleted agent's name and port are free at once. Refuses to
 * know what schedules, skills or runs need: they register with `createRegistryHooks`.
 */
export { type AgentCreated, type CreatedFacts, createRegistryHooks, type RegistryHooks } from './hooks.ts'
export { createRegistry, type Registry, type RegistryDeps } from './registry.ts'
export { registryRoutes } from './routes.ts'
export { ensureSystemAgent } from './system-agent.ts'
