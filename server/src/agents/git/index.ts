/**
 * Git: the repository that an agent's workspace is bound to.
 *
 * Owns the bindings, the agents' own tokens, how syncs went and the way of an agent's git to the git host. Promises that no token of that
 * host comes into a container, and that a conflict is never resolved by itself. Refuses to know what is in a
 * repository: the program in the container works on it.
 */

export type { GitFacts } from './binding.ts'
export { createGitLoop } from './loop.ts'
export { repositoryRoutes } from './repository-routes.ts'
export { gitRoutes } from './routes.ts'
export { type AgentGit, createAgentGit, type GitDeps } from './service.ts'
export { type AgentGitTokens, createAgentGitTokens } from './tokens.ts'
export { createTransfers, type TransferDeps, type Transfers } from './transfer.ts'
