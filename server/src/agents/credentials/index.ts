/**
 * Credentials: the files in an agent's workspace that let it into other systems.
 *
 * Owns the table `agent_credentials` and the rules of which path is a credential file. Promises that a value that
 * came in never leaves again: not in a reply, a log or a transcript; that files are written all or none; and that
 * a bundle opens only under the key that sealed it. The files themselves lie in the workspace, and the agent's
 * program handles them.
 */
export { credentialRoutes } from './routes.ts'
export { type Credentials, type CredentialsDeps, createCredentials, type Injection } from './service.ts'
