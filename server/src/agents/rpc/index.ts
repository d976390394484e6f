/**
 * Calls: asking the program inside an agent over its link. Promises a bounded wait for an agent that has just
 * been started, and named faults. Refuses to know what is asked.
 */
export { type AgentRpcDeps, type CallAgent, createAgentRpc } from './service.ts'
