/**
 * People's tokens for the git host. A token is stored encrypted and never shown again. Independent of its
 * rights on the host.
 */
export { gitTokenRoutes } from './routes.ts'
export { createGitTokens, type GitTokens, sealedColumns } from './service.ts'
