/**
 * Agent view: what the pages and settings of an agent show of its runs. Reads only and owns no table. Shows
 * the content of private conversations only to their person and to admins.
 */
export { type AgentView, createAgentView } from './service.ts'
