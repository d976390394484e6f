/**
 * Rpc: calls to the program inside an agent over its link.
 *
 * Waits a bounded time for an agent that just started, and throws named faults.
 */
export { type AgentRpcDeps, type CallAgent, createAgentRpc } from './service.ts'
