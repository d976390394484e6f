import type { TemplateSchedule } from '@roost/contracts/agents/templates'
import type { AccessEnd } from '../../identity/access/index.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Agent } from '../records/index.ts'

export type AgentCreated = {
  agent: Agent
  ownerId: string
  /** The valid entries of the template's `schedules` block. */
  schedules: readonly TemplateSchedule[]
  /** Names of the template's skills. */
  skills: readonly string[]
  /** The template's `credential_setup`, as written by its author. */
  credentialSetup: readonly Record<string, unknown>[]
  now: Date
}
/** Additions of other features to the reply of a creation. */
export type CreatedFacts = { schedules_created?: number; warnings?: string[] }

type Created = (tx: Tx, created: AgentCreated) => Promise<CreatedFacts>
type Renamed = (tx: Tx, renamed: { agent: Agent; newName: string; now: Date }) => Promise<void>
type Deleting = (tx: Tx, deleting: { agent: Agent; now: Date }) => Promise<void>
type AccessEnded = (tx: Tx, end: AccessEnd) => Promise<void>

/** Work in the transaction that creates, renames or deletes an agent, or ends somebody's access to it; features register at startup. */
export type AgentHooks = {
  onCreated(act: Created): void
  onRenamed(act: Renamed): void
  /** Cancels running and queued executions, and deletes what belongs to the agent. */
  onDeleting(act: Deleting): void
  /** Ends what these principals started or set up on the agent. */
  onAccessEnded(act: AccessEnded): void
  created(tx: Tx, created: AgentCreated): Promise<{ schedules_created: number; warnings: string[] }>
  renamed: Renamed
  deleting: Deleting
  accessEnded: AccessEnded
}

export function createAgentHooks(): AgentHooks {
  const hooks = {
    created: [] as Created[],
    renamed: [] as Renamed[],
    deleting: [] as Deleting[],
    accessEnded: [] as AccessEnded[],
  }
  return {
    onCreated: (act) => void hooks.created.push(act),
    onRenamed: (act) => void hooks.renamed.push(act),
    onDeleting: (act) => void hooks.deleting.push(act),
    onAccessEnded: (act) => void hooks.accessEnded.push(act),
    async created(tx, created) {
      const facts = { schedules_created: 0, warnings: [] as string[] }
      for (const act of hooks.created) {
        const { schedules_created = 0, warnings = [] } = await act(tx, created)
        facts.schedules_created += schedules_created
        facts.warnings.push(...warnings)
      }
      return facts
    },
    async renamed(tx, renamed) {
      for (const act of hooks.renamed) await act(tx, renamed)
    },
    async deleting(tx, deleting) {
      for (const act of hooks.deleting) await act(tx, deleting)
    },
    async accessEnded(tx, end) {
      for (const act of hooks.accessEnded) await act(tx, end)
    },
  }
}
