import type { AgentStatus } from '@roost/contracts/agents/agent'
import type { Capacity } from '@roost/contracts/agents/settings'
import type { BreakerState } from '@roost/contracts/runs/breaker'
import { plural } from '../../lib/format.ts'

export type WaitFacts = {
  /** Null when unknown. */
  agentStatus: AgentStatus | null
  capacity: Pick<Capacity, 'active_slots' | 'effective_max_parallel_tasks'> | null
  breaker?: BreakerState
  /** Queue position from 1; null when the run is not in the queue. */
  position: number | null
}

/** Why a run has not started, as a sentence. */
export function waitReason(facts: WaitFacts): string {
  const { position, capacity } = facts
  const general = blockReason(facts)
  if (general !== null && !isSlots(facts)) return general
  if (position === null) return 'The run waits until earlier runs of its fan-out have ended.'
  if (capacity === null) return 'Waiting for a free slot.'
  const queuePlace = position === 1 ? 'this run is next.' : before(position)
  if (general !== null) return `${general.slice(0, -1)}; ${queuePlace}`
  if (position > 1) return `A slot is free; ${queuePlace}`
  return 'A slot is free. The run starts shortly, or after the previous turn of its conversation.'
}

/** Why no queued run of the agent starts; null when there is no reason or it is unknown. */
export function blockReason({ agentStatus, breaker, capacity }: Omit<WaitFacts, 'position'>): string | null {
  if (agentStatus !== null && agentStatus !== 'running')
    return 'The agent is not running. Start it to run queued runs.'
  if (breaker === 'open') return 'The circuit breaker is open. New runs start when it closes.'
  if (capacity === null || capacity.active_slots < capacity.effective_max_parallel_tasks) return null
  const slots = capacity.effective_max_parallel_tasks
  return slots === 1 ? 'The only slot is in use.' : `All ${slots} slots are in use.`
}

function isSlots({ agentStatus, breaker }: WaitFacts): boolean {
  return (agentStatus === null || agentStatus === 'running') && breaker !== 'open'
}

function before(position: number): string {
  return position === 2 ? '1 run is ahead of it.' : `${plural(position - 1, 'run')} are ahead of it.`
}
