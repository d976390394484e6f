/**
 * Reach: which agents a caller can reach, and as what (owner, admin, shared, self, permitted).
 *
 * Promises that an agent out of reach looks like an unknown one. Refuses to know what a relation may do:
 * that is decided by the endpoint's access in `identity/access`.
 */
export { accessibleAgentNames } from './names.ts'
export { isSharedWith, relationOf } from './rules.ts'
export { type AgentAccess, type AgentAccessDeps, createAgentAccess, type ResolvedAgent } from './service.ts'
