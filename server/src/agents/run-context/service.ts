import type { DiskState } from '@roost/contracts/agents/disk'
import type { AgentSettings } from '@roost/contracts/link/messages'
import type { Tx } from '../../ports/database/port.ts'
import type { AgentPrincipals, Resolved } from '../access/index.ts'
import { restoreStore } from '../history/index.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import type { Settings } from '../settings/index.ts'
import type { RunContextCache } from './cache.ts'

/** Data for accepting and dispatching an agent's runs, served from memory. */
export type RunContext = {
  id: string
  /** The current name. */
  name: string
  status: 'running' | 'stopped' | 'exited'
  /** Maximum duration of a run. */
  execution_timeout_seconds: number
  /** Slots: the agent's own number, limited by the platform's ceiling. */
  effective_slots: number
  /** Default model of its runs; null leaves the choice to the runtime. */
  model: string | null
  custom_instructions: string | null
  disk_state: DiskState
}

/** For features that dispatch runs. */
export type RunContexts = {
  /** Null if the agent does not exist. */
  find(agentId: string): Promise<RunContext | null>
  /**
   * True when no run may start: the agent should stop, its disk quota is used up, or its workspace is being restored.
   * Read in the transaction; `find` may be outdated.
   */
  isClosedForRuns(tx: Tx, agentId: string): Promise<boolean>
  /** False when the agent was deleted. Read in the transaction, like `isClosedForRuns`. */
  exists(tx: Tx, agentId: string): Promise<boolean>
  /** Names of the agents it may call. Separate, because only dispatched runs need them. */
  callableAgentNames(agentId: string): Promise<string[]>
  /** The skills' descriptions for the system prompt; null without skills. Separate for the same reason. */
  skillsBlock(agentId: string): Promise<string | null>
  /** Settings that the agent's program receives when it connects; null if the agent does not exist. */
  settings(agentId: string): Promise<AgentSettings | null>
  /** Texts that must not appear in transcripts: the agent's key and its credentials. */
  secrets(agentId: string): Promise<readonly string[]>
  /** For whom a run works, with the rights of this moment; `ended` if it may not start any more. */
  principal(agentId: string, principal: string): Promise<Resolved>
}

export type RunContextsDeps = {
  agentRecords: Pick<AgentRecords, 'everyRow' | 'all'>
  settings: Pick<Settings, 'forLink' | 'effectiveParallel' | 'resolvedModel'>
  runContextCache: Pick<RunContextCache, 'targetsOf'>
  secretsOf(agentId: string): Promise<readonly string[]>
  skillsBlock(agentId: string): Promise<string | null>
  principals: AgentPrincipals
}

export function createRunContexts({
  agentRecords,
  settings,
  runContextCache,
  secretsOf,
  skillsBlock,
  principals,
}: RunContextsDeps): RunContexts {
  /** Includes agents being created: the program may connect before its creation is recorded. */
  async function rowOf(agentId: string): Promise<Agent | null> {
    return (await agentRecords.everyRow()).find((row) => row.id === agentId) ?? null
  }

  return {
    async find(agentId) {
      const agent = await rowOf(agentId)
      if (!agent) return null
      const [effective_slots, { resolved_model }] = await Promise.all([
        settings.effectiveParallel(agent),
        settings.resolvedModel(agent),
      ])
      const { id, name, execution_timeout_seconds, custom_instructions, disk_state } = agent
      return {
        id,
        name,
        status: workingStatus(agent),
        execution_timeout_seconds,
        custom_instructions,
        disk_state,
        effective_slots,
        model: resolved_model,
      }
    },
    async settings(agentId) {
      const agent = await rowOf(agentId)
      return agent && settings.forLink(agent)
    },
    skillsBlock,
    exists: async (tx, agentId) => (await agentStore(tx).byId(agentId)) !== null,
    async isClosedForRuns(tx, agentId) {
      const closed = await Promise.all([
        agentStore(tx).isClosedForRuns(agentId),
        restoreStore(tx).isOpen(agentId),
      ])
      return closed.includes(true)
    },
    async callableAgentNames(agentId) {
      const targets = await runContextCache.targetsOf(agentId)
      if (targets.size === 0) return []
      return (await agentRecords.all()).filter(({ id }) => targets.has(id)).map(({ name }) => name)
    },
    secrets: secretsOf,
    async principal(agentId, principal) {
      const agent = await rowOf(agentId)
      return agent ? principals.resolve(agent, principal) : { ended: 'The agent was deleted.' }
    },
  }
}

/** A stopping agent takes no new runs; a starting one already does. */
function workingStatus({ desired, status }: Agent): 'running' | 'stopped' | 'exited' {
  if (desired === 'stopped') return 'stopped'
  return status === 'exited' ? 'exited' : 'running'
}
