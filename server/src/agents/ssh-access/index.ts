/**
 * SSH access: keys that let a person log in to an agent's container until they expire.
 *
 * Owns the table `agent_ssh_keys`, which contains public keys only. An expired key no longer opens the
 * container of a connected agent.
 */
export { sshAccessRoutes } from './routes.ts'
export { type AgentSsh, type AgentSshDeps, createAgentSsh } from './service.ts'
