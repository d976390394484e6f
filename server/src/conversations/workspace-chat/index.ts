/**
 * Workspace: where people talk with the agents that are shared with them, with an account or without one.
 *
 * Owns the sessions of addresses, the roster, what people do with their conversations, their documents, and what
 * is delivered to them; conversations and messages lie in the tables of chat. Promises one constant Main for each
 * person and agent, one turn at a time in each conversation, and at most one message for each fire. Refuses to
 * know what fires: triggers call `deliver` in the transaction that ends their run.
 */
export { createBinding } from './bound.ts'
export type { Delivered, Delivery } from './deliveries.ts'
export type { Principal, Principals } from './principal.ts'
export type { Roster } from './roster.ts'
export { workspaceChatRoutes } from './routes.ts'
export { type AsksPort, createWorkspaceChat, type WorkspaceChat, type WorkspaceChatDeps } from './service.ts'
