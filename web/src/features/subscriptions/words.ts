import type { DropReason } from '@roost/contracts/triggers/events'

/** Why a subscriber was not triggered. */
export const dropWords: Record<DropReason, string> = {
  agent_not_running: 'the agent was stopped',
  agent_not_found: 'the agent was deleted',
  agent_not_permitted: 'the agent is no longer permitted to call the source',
  queue_full: 'the queue was full',
  circuit_open: 'the circuit breaker was open',
  inter_agent_depth_exceeded: 'the chain of events was too long',
}
