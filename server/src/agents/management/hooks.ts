import type { TemplateSchedule } from '@roost/contracts/agents/templates'
import type { Tx } from '../../ports/database/port.ts'
import type { Agent } from '../records/index.ts'

export type AgentCreated = {
  agent: Agent
  ownerId: string
  /** The well-formed entries of the template's block. */
  schedules: readonly TemplateSchedule[]
  /** Names of the template's skills. */
  skills: readonly string[]
  /** What the template says of its credentials, as its author wrote it. */
  credentialSetup: readonly Record<string, unknown>[]
  now: Date
}
/** What a feature adds to the reply of a creation. */
export type CreatedFacts = { schedules_created?: number; warnings?: string[] }

type Created = (tx: Tx, created: AgentCreated) => Promise<CreatedFacts>
type Renamed = (tx: Tx, renamed: { agent: Agent; newName: string; now: Date }) => Promise<void>
type Deleting = (tx: Tx, deleting: { agent: Agent; now: Date }) => Promise<void>

/** What must happen in the same breath as an agent's beginning, renaming and end; features register at start. */
export type AgentHooks = {
  onCreated(act: Created): void
  onRenamed(act: Renamed): void
  /** Cancels what runs and waits, and removes what belongs to the agent. */
  onDeleting(act: Deleting): void
  created(tx: Tx, created: AgentCreated): Promise<{ schedules_created: number; warnings: string[] }>
  renamed: Renamed
  deleting: Deleting
}

export function createAgentHooks(): AgentHooks {
  const acts = { created: [] as Created[], renamed: [] as Renamed[], deleting: [] as Deleting[] }
  return {
    onCreated: (act) => void acts.created.push(act),
    onRenamed: (act) => void acts.renamed.push(act),
    onDeleting: (act) => void acts.deleting.push(act),
    async created(tx, created) {
      const facts = { schedules_created: 0, warnings: [] as string[] }
      for (const act of acts.created) {
        const { schedules_created = 0, warnings = [] } = await act(tx, created)
        facts.schedules_created += schedules_created
        facts.warnings.push(...warnings)
      }
      return facts
    },
    async renamed(tx, renamed) {
      for (const act of acts.renamed) await act(tx, renamed)
    },
    async deleting(tx, deleting) {
      for (const act of acts.deleting) await act(tx, deleting)
    },
  }
}
