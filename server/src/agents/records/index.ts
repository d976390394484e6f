/**
 * Directory: the rows of all agents, and the copy of them in memory that reads are served from.
 *
 * Owns the tables `agents`, `agent_ssh_ports`, `agent_tags`, `agent_shares` and `agent_leftovers`.
 * Promises that a change is seen by every read in this process that starts after its commit.
 * Does not know what a status or a setting means: the features of this area decide, and write through
 * `agentStore` in a transaction that also calls `directory.changed`.
 */
export type { Agent, AgentShare, Applied, EphemeralBounds, Leftover } from './agent.ts'
export { blankRow } from './blank-row.ts'
export { type AgentRecords, type AgentRecordsDeps, createAgentRecords, requireAgent } from './service.ts'
export { type AgentPatch, type AgentStore, agentStore } from './store.ts'
export type { AgentsTable } from './tables.ts'
