/**
 * Git: the repository that an agent's workspace is bound to.
 *
 * Owns the bindings, the agents' own tokens, the sync state and the transfers to the git host. No token of
 * the host ever enters a container, and conflicts are never resolved automatically. The program in the
 * container works on the repository.
 */

export type { GitSettings } from './binding.ts'
export { createGitLoop } from './loop.ts'
export { repositoryRoutes } from './repository-routes.ts'
export { gitRoutes } from './routes.ts'
export { type AgentGit, createAgentGit, type GitDeps } from './service.ts'
export { type AgentGitTokens, createAgentGitTokens, sealedColumns } from './tokens.ts'
export { createTransfers, type TransferDeps, type Transfers } from './transfer.ts'
