/**
 * Credentials: the files in an agent's workspace that give it access to other systems.
 *
 * Owns the table `agent_credentials` and the rules for credential paths. A received value never appears in
 * replies, logs or transcripts. Files are written all or none. A bundle opens only with the key that sealed
 * it. The files are in the workspace, and the agent's program reads and writes them.
 */

export { sealedColumns } from './known-secrets.ts'
export { credentialRoutes } from './routes.ts'
export { type Credentials, type CredentialsDeps, createCredentials, type Injection } from './service.ts'
