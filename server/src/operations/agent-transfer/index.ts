/**
 * Agent transfer: one agent as an archive, from one installation into another.
 *
 * Owns no table. The archive is streamed in both directions with bounded memory. It may be made by anybody: its paths,
 * types and sizes are checked before they reach the agent. A failed import leaves nothing behind. Credentials are
 * exported only into an encrypted archive.
 */
export { agentTransferRoutes } from './routes.ts'
export { type AgentTransfer, type AgentTransferDeps, createAgentTransfer } from './service.ts'
