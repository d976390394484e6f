/**
 * Workspace: people talk with the agents that are shared with them, with or without an account.
 * Owns the sessions of addresses, the roster, stars and read positions, documents and deliveries; conversations and
 * messages are in chat's tables. Each person has one Main with each agent, one turn at a time in each conversation, and
 * at most one message for each fire. Triggers call `deliver` in the transaction that ends their run.
 */

export type { Delivered, Delivery } from './deliveries.ts'
export { createBinding } from './endpoint-binding.ts'
export type { Principal, Principals } from './principal.ts'
export type { Roster } from './roster.ts'
export { workspaceChatRoutes } from './routes.ts'
export { type AsksPort, createWorkspaceChat, type WorkspaceChat, type WorkspaceChatDeps } from './service.ts'
