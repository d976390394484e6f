/**
 * Records: the rows of all agents, and the in-memory cache that serves reads.
 *
 * Owns the tables `agents`, `agent_ssh_ports`, `agent_tags`, `agent_shares` and `agent_leftovers`. Every read
 * in this process that starts after a commit sees its change. The other features of this area define what
 * statuses and settings mean. They write through `agentStore` in a transaction that also calls
 * `agentRecords.changed`.
 */
export type { Agent, AgentShare, Applied, EphemeralBounds, ForkedFrom, Leftover, Waiting } from './agent.ts'
export { blankRow } from './blank-row.ts'
export { type AgentRecords, type AgentRecordsDeps, createAgentRecords, requireAgent } from './service.ts'
export { type AgentPatch, type AgentStore, agentStore } from './store.ts'
export type { AgentsTable } from './tables.ts'
