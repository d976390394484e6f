import type { AgentSettings } from '@roost/contracts/link/messages'
import type { Tx } from '../../ports/database/port.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import type { Settings } from '../settings/index.ts'
import type { RunContextCache } from './cache.ts'

/** What taking a run in and handing it out need to know of its agent; answered from memory. */
export type RunContext = {
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
}

/** Answered to whoever dispatches runs. */
export type RunContexts = {
  /** Null: there is no such agent (any more). */
  find(agentId: string): Promise<RunContext | null>
  /** Whether it is told to stop, as the record says now; `find` may answer from memory. */
  isStopRequested(tx: Tx, agentId: string): Promise<boolean>
  /** Names of the agents that it may call. Apart, because only a run that is handed out needs them. */
  callableAgentNames(agentId: string): Promise<string[]>
  /** What its skills say about themselves, for the system prompt; null: nothing. Apart, as above. */
  skillsBlock(agentId: string): Promise<string | null>
  /** What its program is told when it says hello. Null: there is no such agent (any more). */
  settings(agentId: string): Promise<AgentSettings | null>
  /** Texts that must not appear in a transcript: the agent's key and its credentials. */
  secrets(agentId: string): Promise<readonly string[]>
}

export type RunContextsDeps = {
  agentRecords: Pick<AgentRecords, 'everyRow' | 'all'>
  settings: Pick<Settings, 'forLink' | 'effectiveParallel' | 'resolvedModel'>
  runContextCache: Pick<RunContextCache, 'targetsOf'>
  secretsOf(agentId: string): Promise<readonly string[]>
  skillsBlock(agentId: string): Promise<string | null>
}

export function createRunContexts({
  agentRecords,
  settings,
  runContextCache,
  secretsOf,
  skillsBlock,
}: RunContextsDeps): RunContexts {
  /** Its program may dial in before its creation is written down. */
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
      const { id, name, execution_timeout_seconds, custom_instructions } = agent
      return {
        id,
        name,
        status: workingStatus(agent),
        execution_timeout_seconds,
        custom_instructions,
        effective_slots,
        model: resolved_model,
      }
    },
    async settings(agentId) {
      const agent = await rowOf(agentId)
      return agent && settings.forLink(agent)
    },
    skillsBlock,
    isStopRequested: (tx, agentId) => agentStore(tx).isToldToStop(agentId),
    async callableAgentNames(agentId) {
      const targets = await runContextCache.targetsOf(agentId)
      if (targets.size === 0) return []
      return (await agentRecords.all()).filter(({ id }) => targets.has(id)).map(({ name }) => name)
    },
    secrets: secretsOf,
  }
}

/** An agent that is being stopped takes on nothing new, and one that is being started does already. */
function workingStatus({ desired, status }: Agent): 'running' | 'stopped' | 'exited' {
  if (desired === 'stopped') return 'stopped'
  return status === 'exited' ? 'exited' : 'running'
}
