/**
 * Access: which agents a caller can use, and as what (owner, admin, shared, self, permitted).
 *
 * An agent without access looks like an unknown one. What a relation permits is defined by each endpoint's
 * access in `identity/access`.
 */
export { type AgentPrincipals, createAgentPrincipals, type Resolved } from './principals.ts'
export { isSharedWith, mayWrite, relationOf, shareOf } from './rules.ts'
export {
  type AgentAccess,
  type AgentAccessDeps,
  accessibleAgentNames,
  createAgentAccess,
  type ResolvedAgent,
} from './service.ts'
