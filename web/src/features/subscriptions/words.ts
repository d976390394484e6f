import type { DropReason } from '@roost/contracts/triggers/events'

/** Why a subscriber was not woken. */
export const dropWords: Record<DropReason, string> = {
  agent_not_running: 'it was stopped',
  agent_not_found: 'it is gone',
  agent_not_permitted: 'it may not call the source any more',
  queue_full: 'its queue was full',
  circuit_open: 'its breaker was open',
  inter_agent_depth_exceeded: 'agents had woken each other too often',
}
