/**
 * The tokens of people for the git host. Promises that a token lies sealed and is shown to nobody again.
 * Refuses to know what it may do there.
 */
export { gitTokenRoutes } from './routes.ts'
export { createGitTokens, type GitTokens } from './service.ts'
