import type { AssignedSkill, SkillDelivery, SkillRemoval } from '@roost/contracts/skills/assignments'
import { maxAssigned } from '@roost/contracts/skills/assignments'
import type { AgentAccess } from '../../agents/access/index.ts'
import { requireDiskRoom } from '../../agents/disk/index.ts'
import { type Agent, type AgentRecords, agentStore } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { createCache } from '../../kit/cache.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Library, requireSkillName } from '../library/index.ts'
import { type AssignmentRow, assignmentStore } from './store.ts'

/**
 * Synchronizes an agent with its assignments, and waits up to 20 seconds. The result is about the skills in `added`
 * and `dropped`.
 */
export type Deliver = (
  agentId: string,
  what: { added: readonly string[]; dropped: readonly string[] },
) => Promise<{ delivery: SkillDelivery; removal: SkillRemoval | null }>

export type AssignmentsDeps = {
  db: Db
  clock: Clock
  events: Pick<Outbox, 'append' | 'on'>
  agentRecords: Pick<AgentRecords, 'byId'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
  library: Pick<Library, 'resolve'>
  deliver: Deliver
}

type Holder = { name: string; label: string | null }

export type Assignments = {
  of(agentId: string): Promise<AssignedSkill[]>
  /** The accessible agents with each skill; admins see all agents. */
  overview(caller: SignedIn): Promise<{
    assignments: Record<string, Holder[]>
    scope: 'all' | 'accessible'
    assignable_agents: Holder[]
  }>
  /**
   * Replaces the skills of an agent. Assigned skills that are no longer in any source may stay. Throws
   * `invalid_skill_name`, `skill_not_found`, and then changes nothing.
   */
  replace(
    agent: AgentRef,
    names: readonly string[],
    by: string,
  ): Promise<{ skills: string[]; delivery: SkillDelivery; removal: SkillRemoval | null }>
  /** Throws `invalid_skill_name`, `skill_not_found`. */
  assign(agent: AgentRef, name: string, by: string): Promise<SkillDelivery>
  /** `removed` is false if the agent did not have it. Throws `invalid_skill_name`. */
  unassign(agent: AgentRef, name: string): Promise<{ removed: boolean; removal: SkillRemoval | null }>
  /** Assigns in the caller's transaction, without delivery. Skips unknown names and returns them. */
  assignInitial(tx: Tx, agent: AgentRef, names: readonly string[], by: string): Promise<{ unknown: string[] }>
  /** Assigns the skills of one agent to another, as `assignInitial` does. */
  copy(tx: Tx, from: string, to: AgentRef, by: string): Promise<{ names: string[]; unknown: string[] }>
  /** The section of the system prompt about the agent's skills; cached for a short time. */
  block(agentId: string): Promise<string | null>
  /** Hook of agent deletion. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  open(): void
  close(): void
}
export type AgentRef = { id: string; name: string }

export function createAssignments(deps: AssignmentsDeps): Assignments {
  const { db, clock, events, library, deliver } = deps
  const blocks = createCache<{ agentId: string; text: string | null }>({
    clock,
    maxAgeSeconds: 30,
    maxEntries: 2000,
    load: async (agentId) => ({ agentId, text: blockOf(await assignmentStore(db).of(agentId)) }),
  })

  /** Returns the names that a source has. `assigned` may also contain skills that are no longer in any source. */
  async function requireKnown(
    names: readonly string[],
    assigned: readonly AssignmentRow[] = [],
    tx?: Tx,
  ): Promise<string[]> {
    for (const name of names) requireSkillName(name)
    const known = await library.resolve(tx)
    const assignedNames = new Set(assigned.map(({ skill_name }) => skill_name))
    const unknown = names.filter((name) => !known.has(name) && !assignedNames.has(name))
    if (unknown.length === 0) return names.filter((name) => known.has(name))
    const quoted = unknown.map((name) => `"${name}"`).join(', ')
    throw new Fault('skill_not_found', `The library has no skill ${quoted}.`, { skills: unknown })
  }

  /** Serializes the changes of an agent. */
  async function change(agent: AgentRef, work: (tx: Tx, rows: AssignmentRow[]) => Promise<boolean>) {
    await db.atomically(async (tx) => {
      if (!(await agentStore(tx).lock(agent.id))) throw new Fault('agent_not_found')
      if (await work(tx, await assignmentStore(tx).of(agent.id))) await appendEvent(tx, agent)
    })
  }

  async function appendEvent(tx: Tx, { id, name }: AgentRef): Promise<void> {
    const event = { type: 'skills.changed', agent_names: [name], agent_ids: [id], fields: {} }
    await events.append(tx, event, clock.now())
    tx.onCommitted(() => blocks.forget(({ agentId }) => agentId === id))
  }

  async function add(tx: Tx, agent: AgentRef, names: readonly string[], by: string): Promise<boolean> {
    const store = assignmentStore(tx)
    let isChanged = false
    for (const name of names) {
      const row = { ...initialState, agent_id: agent.id, skill_name: name, assigned_by: by }
      if (await store.insert({ ...row, assigned_at: timestamp(clock.now()) })) isChanged = true
    }
    if (isChanged) {
      const current = await agentStore(tx).byId(agent.id)
      if (current) requireDiskRoom(current)
    }
    await store.forgetRemovals(agent.id, names)
    return isChanged
  }

  async function drop(tx: Tx, agent: AgentRef, names: readonly string[]): Promise<string[]> {
    const store = assignmentStore(tx)
    const dropped: string[] = []
    for (const name of names) if (await store.remove(agent.id, name)) dropped.push(name)
    const requested_at = timestamp(clock.now())
    for (const skill_name of dropped) {
      await store.noteRemoval({ agent_id: agent.id, skill_name, requested_at })
    }
    return dropped
  }

  const assignInitial: Assignments['assignInitial'] = async (tx, agent, names, by) => {
    const known = await library.resolve(tx)
    const desired = [...new Set(names)]
    const found = desired.filter((name) => known.has(name)).slice(0, maxAssigned)
    if (await add(tx, agent, found, by)) await appendEvent(tx, agent)
    return { unknown: desired.filter((name) => !known.has(name)) }
  }

  let stop = () => {}

  return {
    async of(agentId) {
      const [rows, known] = await Promise.all([assignmentStore(db).of(agentId), library.resolve()])
      return rows.map((row) => viewOf(row, !known.has(row.skill_name)))
    },

    async overview(caller) {
      const [accessible, rows] = await Promise.all([
        deps.agentAccess.accessibleAgents(caller),
        assignmentStore(db).holders(),
      ])
      const holderOf = ({ name, label }: Agent): Holder => ({ name, label })
      const byId = new Map(accessible.map(({ agent }) => [agent.id, agent]))
      const assignments: Record<string, Holder[]> = {}
      for (const { agent_id, skill_name } of rows) {
        const agent = byId.get(agent_id)
        if (!agent) continue
        const holders = assignments[skill_name] ?? []
        assignments[skill_name] = [...holders, holderOf(agent)]
      }
      const owned = accessible.filter(({ relation }) => relation === 'owner' || relation === 'admin')
      return {
        assignments,
        scope: caller.user.role === 'admin' ? 'all' : 'accessible',
        assignable_agents: owned.map(({ agent }) => holderOf(agent)),
      }
    },

    async replace(agent, names, by) {
      const desired = [...new Set(names)]
      let dropped: string[] = []
      let added: string[] = []
      await change(agent, async (tx, rows) => {
        added = await requireKnown(desired, rows, tx)
        const removed = rows.map(({ skill_name }) => skill_name).filter((name) => !desired.includes(name))
        dropped = await drop(tx, agent, removed)
        return (await add(tx, agent, desired, by)) || dropped.length > 0
      })
      const { delivery, removal } = await deliver(agent.id, { added, dropped })
      return { skills: desired, delivery, removal }
    },

    async assign(agent, name, by) {
      await requireKnown([name])
      await change(agent, async (tx, rows) => {
        if (rows.length >= maxAssigned && !rows.some(({ skill_name }) => skill_name === name)) {
          throw invalidField(['skills'], `an agent has at most ${maxAssigned} skills`)
        }
        return add(tx, agent, [name], by)
      })
      return (await deliver(agent.id, { added: [name], dropped: [] })).delivery
    },

    async unassign(agent, name) {
      requireSkillName(name)
      let dropped: string[] = []
      await change(agent, async (tx) => {
        dropped = await drop(tx, agent, [name])
        return dropped.length > 0
      })
      if (dropped.length === 0) return { removed: false, removal: null }
      return { removed: true, removal: (await deliver(agent.id, { added: [], dropped })).removal }
    },

    assignInitial,
    async copy(tx, from, to, by) {
      const names = (await assignmentStore(tx).of(from)).map(({ skill_name }) => skill_name)
      return { names, ...(await assignInitial(tx, to, names, by)) }
    },

    block: async (agentId) => (await blocks.get(agentId))?.text ?? null,

    agentDeleted: (tx, agentId) => assignmentStore(tx).agentDeleted(agentId),

    open() {
      // Also for changes by other processes.
      stop = events.on('*', (event) => {
        if (event.type === 'skills.changed') blocks.forget(({ agentId }) => event.agent_ids.includes(agentId))
      })
    },
    close: () => stop(),
  }
}

/** The initial state of an assignment. */
const initialState = {
  delivery_status: 'pending',
  delivered_at: null,
  description: null,
  version: null,
  source_id: null,
  source_name: null,
  warnings: '[]',
  error: null,
} as const satisfies Partial<AssignmentRow>

const shortSha = 7

function viewOf(row: AssignmentRow, isStale: boolean): AssignedSkill {
  const version = row.version?.slice(0, shortSha) ?? null
  const { delivery_status: status, delivered_at: at, error } = row
  return {
    skill_name: row.skill_name,
    assigned_by: row.assigned_by,
    assigned_at: row.assigned_at,
    version,
    source_id: row.source_id,
    source: row.source_name,
    delivery_status: status,
    last_delivery:
      at === null || status === 'pending'
        ? null
        : // Stored by the delivery from a list of texts.
          { status, at, version, warnings: JSON.parse(row.warnings) as string[], error },
    stale: isStale,
  }
}

/** The section of the system prompt about the agent's delivered skills. */
function blockOf(rows: readonly AssignmentRow[]): string | null {
  const delivered = rows.filter(({ version }) => version !== null)
  if (delivered.length === 0) return null
  const lines = delivered.map(({ skill_name, description }) =>
    description ? `- ${skill_name}: ${description.replace(/\s+/g, ' ').slice(0, 300)}` : `- ${skill_name}`,
  )
  const heading =
    'Skills from the platform, each in a folder of .claude/skills with a SKILL.md to read first:'
  return [heading, ...lines].join('\n')
}
