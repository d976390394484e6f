import type { AgentSettings } from '@roost/contracts/link/messages'
import type { Tx } from '../../ports/database/port.ts'

/** What dispatch needs to know of an agent; answered by the agents area, filled in `compose.ts`. */
export type AgentFact = {
  id: string
  /** The name now. */
  name: string
  status: 'running' | 'stopped' | 'exited'
  /** The longest a run may take. */
  execution_timeout_seconds: number
  /** Slots: the agent's own number, at most the platform's ceiling. */
  effective_slots: number
  /** The model of a run that names none; null leaves it to the runtime. */
  model: string | null
  custom_instructions: string | null
  /** What the agent's skills say about themselves, for the system prompt. */
  skills_block: string | null
  /** What the agent's program is told when it says hello. */
  settings: AgentSettings
}

export type AgentFacts = {
  /** Null: there is no such agent (any more). */
  find(agentId: string): Promise<AgentFact | null>
  /** Whether it is told to stop, as the record says now; `find` may answer from memory. */
  isToldToStop(tx: Tx, agentId: string): Promise<boolean>
  /** Names of the agents that it may call. Apart, because only a run that is handed out needs them. */
  callable(agentId: string): Promise<string[]>
  /** Texts that must not appear in a transcript: the agent's key and its credentials. */
  secrets(agentId: string): Promise<readonly string[]>
}
