/**
 * Former workspaces: what an agent leaves when its node is lost and it continues elsewhere from its latest record.
 *
 * Owns the table `agent_former_workspaces`. The owner allows it in the settings of the history, and later decides between
 * the two workspaces. The lost container never writes to the new one: it has other volumes, and its key has ended.
 */
export { formerWorkspaceRoutes } from './routes.ts'
export { createFormerWorkspaces, type FormerWorkspaces } from './service.ts'
