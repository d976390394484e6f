import type { AgentStatus } from '@roost/contracts/agents/agent'
import type { Capacity } from '@roost/contracts/agents/settings'
import type { BreakerState } from '@roost/contracts/runs/breaker'
import { plural } from '../../lib/format.ts'

export type WaitFacts = {
  /** Null while not known. */
  agentStatus: AgentStatus | null
  capacity: Pick<Capacity, 'active_slots' | 'effective_max_parallel_tasks'> | null
  breaker?: BreakerState
  /** Place in the queue from 1; null where the run does not stand in it. */
  position: number | null
}

/** Why a run has not begun, in a sentence. */
export function waitReason(facts: WaitFacts): string {
  const { position, capacity } = facts
  const general = holdUp(facts)
  if (general !== null && !isSlots(facts)) return general
  if (position === null) return 'It is held back until earlier runs of its group have ended.'
  if (capacity === null) return 'It waits for a slot.'
  const place = position === 1 ? 'it is next.' : before(position)
  if (general !== null) return `${general.slice(0, -1)}; ${place}`
  if (position > 1) return `A slot is free; ${place}`
  return 'A slot is free. It begins in a moment, or waits for its conversation’s earlier turn.'
}

/** What keeps everything that waits for an agent from beginning; null when nothing does, or it is not known. */
export function holdUp({ agentStatus, breaker, capacity }: Omit<WaitFacts, 'position'>): string | null {
  if (agentStatus !== null && agentStatus !== 'running')
    return 'The agent is not running: nothing begins until it is started.'
  if (breaker === 'open') return 'The breaker is open: nothing new is begun until it closes.'
  if (capacity === null || capacity.active_slots < capacity.effective_max_parallel_tasks) return null
  const slots = capacity.effective_max_parallel_tasks
  return slots === 1 ? 'The one slot is taken.' : `All ${slots} slots are taken.`
}

function isSlots({ agentStatus, breaker }: WaitFacts): boolean {
  return (agentStatus === null || agentStatus === 'running') && breaker !== 'open'
}

function before(position: number): string {
  return position === 2 ? '1 run goes before it.' : `${plural(position - 1, 'run')} go before it.`
}
