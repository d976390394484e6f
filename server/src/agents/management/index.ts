/**
 * Management: creates, renames, describes and deletes agents.
 *
 * A failed creation leaves nothing behind. Of concurrent requests for one name, one succeeds. Deleting an
 * agent frees its name and port immediately. Schedules, skills and runs register with `createAgentHooks`.
 */
export type { Content } from './create.ts'
export {
  type AgentCreated,
  type AgentForked,
  type AgentHooks,
  type CreatedFacts,
  createAgentHooks,
} from './hooks.ts'
export { createOnce, type OnceDeps } from './once.ts'
export { managementRoutes } from './routes.ts'
export { type AgentManagement, type AgentManagementDeps, createAgentManagement } from './service.ts'
export { ensureSystemAgent } from './system-agent.ts'
