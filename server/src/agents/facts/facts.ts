import type { AgentSettings } from '@roost/contracts/link/messages'
import type { Tx } from '../../ports/database/port.ts'
import { type Agent, agentStore, type Directory } from '../directory/index.ts'
import type { Remembered } from '../remembered/index.ts'
import type { Settings } from '../settings/index.ts'

/** What a run needs to know of its agent. */
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

/** Answered to whoever dispatches runs. */
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

export type FactsDeps = {
  directory: Pick<Directory, 'everyRow' | 'all'>
  settings: Pick<Settings, 'forLink'>
  remembered: Pick<Remembered, 'targetsOf'>
  secretsOf(agentId: string): Promise<readonly string[]>
  skillsBlock(agentId: string): Promise<string | null>
}

export function createFacts({
  directory,
  settings,
  remembered,
  secretsOf,
  skillsBlock,
}: FactsDeps): AgentFacts {
  return {
    async find(agentId) {
      // Its program may dial in before its creation is written down.
      const agent = (await directory.everyRow()).find((row) => row.id === agentId)
      if (!agent) return null
      const settingsNow = await settings.forLink(agent)
      const { id, name, execution_timeout_seconds, custom_instructions } = agent
      return {
        id,
        name,
        status: workingStatus(agent),
        execution_timeout_seconds,
        custom_instructions,
        effective_slots: settingsNow.parallel_limit,
        model: settingsNow.model,
        skills_block: await skillsBlock(agentId),
        settings: settingsNow,
      }
    },
    isToldToStop: (tx, agentId) => agentStore(tx).isToldToStop(agentId),
    async callable(agentId) {
      const targets = await remembered.targetsOf(agentId)
      if (targets.size === 0) return []
      return (await directory.all()).filter(({ id }) => targets.has(id)).map(({ name }) => name)
    },
    secrets: secretsOf,
  }
}

/** An agent that is being stopped takes on nothing new, and one that is being started does already. */
function workingStatus({ desired, status }: Agent): 'running' | 'stopped' | 'exited' {
  if (desired === 'stopped') return 'stopped'
  return status === 'exited' ? 'exited' : 'running'
}
