import type { TemplateSchedule } from '@roost/contracts/agents/templates'
import type { AccessEnd, SignedIn } from '../../identity/access/index.ts'
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

export type AgentForked = {
  source: Agent
  fork: Agent
  /** Who makes the fork, and owns it. */
  by: SignedIn
  withSchedules: boolean
  withCredentials: boolean
  now: Date
}

type Created = (tx: Tx, created: AgentCreated) => Promise<CreatedFacts>
type Forked = (tx: Tx, forked: AgentForked) => Promise<CreatedFacts>
type Renamed = (tx: Tx, renamed: { agent: Agent; newName: string; now: Date }) => Promise<void>
type Deleting = (tx: Tx, deleting: { agent: Agent; now: Date }) => Promise<void>
type AccessEnded = (tx: Tx, end: AccessEnd) => Promise<void>

/** Work in the transaction that creates, forks, renames or deletes an agent, or ends somebody's access to it; features register at startup. */
export type AgentHooks = {
  onCreated(act: Created): void
  /** Copies to a fork what its source has. */
  onForked(act: Forked): void
  onRenamed(act: Renamed): void
  /** Cancels running and queued executions, and deletes what belongs to the agent. */
  onDeleting(act: Deleting): void
  /** Ends what these principals started or set up on the agent. */
  onAccessEnded(act: AccessEnded): void
  created(tx: Tx, created: AgentCreated): Promise<Required<CreatedFacts>>
  forked(tx: Tx, forked: AgentForked): Promise<Required<CreatedFacts>>
  renamed: Renamed
  deleting: Deleting
  accessEnded: AccessEnded
}

export function createAgentHooks(): AgentHooks {
  const hooks = {
    created: [] as Created[],
    forked: [] as Forked[],
    renamed: [] as Renamed[],
    deleting: [] as Deleting[],
    accessEnded: [] as AccessEnded[],
  }
  return {
    onCreated: (act) => void hooks.created.push(act),
    onForked: (act) => void hooks.forked.push(act),
    onRenamed: (act) => void hooks.renamed.push(act),
    onDeleting: (act) => void hooks.deleting.push(act),
    onAccessEnded: (act) => void hooks.accessEnded.push(act),
    created: (tx, created) => sumOf(hooks.created.map((act) => () => act(tx, created))),
    forked: (tx, forked) => sumOf(hooks.forked.map((act) => () => act(tx, forked))),
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

async function sumOf(acts: readonly (() => Promise<CreatedFacts>)[]): Promise<Required<CreatedFacts>> {
  const facts = { schedules_created: 0, warnings: [] as string[] }
  for (const act of acts) {
    const { schedules_created = 0, warnings = [] } = await act()
    facts.schedules_created += schedules_created
    facts.warnings.push(...warnings)
  }
  return facts
}
