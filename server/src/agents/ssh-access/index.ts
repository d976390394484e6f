/**
 * SSH access: keys that let a person log in to an agent's container until they expire.
 *
 * Owns the table `agent_ssh_keys`. Promises that an expired key no longer opens a container that is connected.
 * Stores public keys only.
 */
export { sshAccessRoutes } from './routes.ts'
export { type AgentSsh, type AgentSshDeps, createAgentSsh } from './service.ts'
