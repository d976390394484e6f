import type { AgentSettings } from '@roost/contracts/link/messages'
import type { Tx } from '../../ports/database/port.ts'
import { type Agent, agentStore, type Directory } from '../directory/index.ts'
import type { Remembered } from '../remembered/index.ts'
import type { Settings } from '../settings/index.ts'

export type AgentFacts = {
  find(agentId: string): Promise<{
    id: string
    name: string
    status: 'running' | 'stopped' | 'exited'
    execution_timeout_seconds: number
    effective_slots: number
    model: string | null
    custom_instructions: string | null
    skills_block: string | null
    settings: AgentSettings
  } | null>
  isToldToStop(tx: Tx, agentId: string): Promise<boolean>
  /** Names of the agents that it may call. */
  callable(agentId: string): Promise<string[]>
  /** Texts that must not appear in a transcript. */
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
