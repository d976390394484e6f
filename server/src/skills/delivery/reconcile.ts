import { maxSkillBytes } from '@roost/contracts/link/messages'
import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { SkillResult } from '@roost/contracts/skills/assignments'
import type { Agent } from '../../agents/records/index.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { type AgentLink, LinkFault } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import { type AssignmentRow, assignmentStore } from '../assignments/index.ts'
import type { Library, LibrarySkill } from '../library/index.ts'
import { createPush, NotDeliverable, type PushDeps } from './push.ts'
import { maxInjectionBytes, planDelivery, type RemovalResults, staleMessage } from './rules.ts'

export type ReconcileDeps = PushDeps & {
  db: Db
  clock: Clock
  events: Pick<Outbox, 'append'>
  link: Pick<AgentLink, 'call'>
  library: Pick<Library, 'resolve' | 'package'>
  alerts: Pick<Alerts, 'raise'>
}

export type Reconciled = {
  results: Record<string, SkillResult>
  removals: RemovalResults
  /** Assigned skills that are no longer in any source. They are not changed and have no result. */
  stale: readonly string[]
}

/** The agent cannot list the skills in its workspace. */
export class WorkspaceUnreadable extends Error {}

/**
 * Synchronizes a running agent with its assignments; the caller holds the lease. Each skill fails alone. A broken link
 * ends the work (`LinkDown`, `LinkTimeout`), and the next attempt continues. Throws `WorkspaceUnreadable`.
 */
export function createReconcile(deps: ReconcileDeps) {
  const { db, clock, events, link, library, alerts } = deps
  const push = createPush(deps)

  return async function reconcile(
    agent: Pick<Agent, 'id' | 'name'>,
    {
      force = false,
      renewLease = async () => {},
    }: { force?: boolean; renewLease?: () => Promise<void> } = {},
  ): Promise<Reconciled> {
    const store = assignmentStore(db)
    const [rows, released, known, { skills: present }] = await Promise.all([
      store.of(agent.id),
      store.removals(agent.id),
      library.resolve(),
      presentIn(agent.id),
    ])
    const desired = rows.flatMap(({ skill_name }) => known.get(skill_name) ?? [])
    const stale = new Set(rows.map(({ skill_name }) => skill_name).filter((name) => !known.has(name)))
    const plan = planDelivery({ present, desired, stale, released: new Set(released), force })

    const results: Record<string, SkillResult> = {}
    for (const name of plan.conflict) results[name] = resultOf('conflict', conflictMessage)
    for (const name of plan.unchanged)
      results[name] = { ...resultOf('unchanged'), version: known.get(name)?.version ?? null }
    let sent = 0
    for (const name of plan.install) {
      const skill = known.get(name)
      if (!skill) continue
      sent += skill.size_bytes
      results[name] =
        // A skill that alone is too large gets its own error.
        sent > maxInjectionBytes && skill.size_bytes <= maxSkillBytes
          ? resultOf('failed', 'More than 50 MiB in one injection; it is delivered with the next one.')
          : await install(agent.id, skill)
      if (results[name].status === 'failed') sent -= skill.size_bytes
      await renewLease()
    }
    const removals = await remove(agent.id, plan.remove)
    await settle(agent.id, rows, known, results)
    await write(agent, { rows, known, results, removals, released, refused: plan.refused })
    return { results, removals, stale: [...stale] }
  }

  async function presentIn(agentId: string) {
    return link.call(agentId, 'skills.list', {}).catch((cause: unknown) => {
      if (!(cause instanceof LinkFault)) throw cause
      throw new WorkspaceUnreadable('The agent cannot read its skills.', { cause })
    })
  }

  async function install(agentId: string, skill: LibrarySkill): Promise<SkillResult> {
    try {
      const { outcome, warnings } = await push(agentId, skill)
      if (outcome === 'conflict') return resultOf('conflict', conflictMessage)
      return { status: 'injected', version: skill.version, warnings, error: null }
    } catch (error) {
      if (error instanceof NotDeliverable) return resultOf('failed', error.message)
      if (error instanceof LinkFault) return resultOf('failed', `The agent refused it: ${error.code}.`)
      throw error
    }
  }

  async function remove(agentId: string, names: string[]): Promise<RemovalResults> {
    if (names.length === 0) return {}
    const { results } = await link.call(agentId, 'skills.remove', { names })
    return Object.fromEntries(
      results.map(({ name, outcome }) => {
        if (outcome === 'failed') return [name, { status: 'failed', error: 'The agent could not remove it.' }]
        // A folder that now belongs to the agent counts as absent.
        return [name, { status: outcome === 'foreign' ? 'absent' : outcome, error: null }]
      }),
    )
  }

  /** Updates the list of skills in the workspace, and adds warnings about missing requirements. */
  async function settle(
    agentId: string,
    rows: readonly AssignmentRow[],
    known: ReadonlyMap<string, LibrarySkill>,
    results: Record<string, SkillResult>,
  ): Promise<void> {
    const nothing = { packages: [], binaries: [], env: [] }
    const skills = rows.flatMap(({ skill_name: name, version, description }) => {
      const result = results[name]
      const has = result ? ['injected', 'unchanged'].includes(result.status) : version !== null
      if (!has) return []
      const facts = known.get(name)?.facts
      return [{ name, description: facts?.description ?? description, requires: facts?.requires ?? nothing }]
    })
    const { warnings } = await link.call(agentId, 'skills.settle', { skills })
    for (const { name, warnings: missing } of warnings) {
      const [result, skill] = [results[name], known.get(name)]
      if (!result || !skill) continue
      const shadows = skill.shadowed_by.map((source) => `shadowed:${source}`)
      result.warnings = [...new Set([...result.warnings, ...skill.facts.warnings, ...shadows, ...missing])]
    }
  }

  type Outcome = Omit<Reconciled, 'stale'> & {
    rows: readonly AssignmentRow[]
    known: ReadonlyMap<string, LibrarySkill>
    released: readonly string[]
    refused: readonly string[]
  }
  async function write(agent: Pick<Agent, 'id' | 'name'>, outcome: Outcome): Promise<void> {
    const { rows, known, results, removals, released, refused } = outcome
    const at = timestamp(clock.now())
    // Skills that were absent count as removed.
    const removed = released.filter((name) => removals[name]?.status !== 'failed')
    await db.atomically(async (tx) => {
      const store = assignmentStore(tx)
      for (const row of rows) {
        const result = results[row.skill_name]
        const patch = result ? patchOf(result, known.get(row.skill_name), at) : stalePatch(row, at)
        if (patch) await store.settle(row, patch)
      }
      await store.forgetRemovals(agent.id, removed)
      const isChanged =
        Object.keys(removals).length > 0 ||
        Object.values(results).some(({ status }) => status !== 'unchanged')
      if (isChanged || rows.some(({ delivery_status }) => delivery_status === 'pending')) {
        const event = { type: 'skills.changed', agent_names: [agent.name], agent_ids: [agent.id], fields: {} }
        await events.append(tx, event, clock.now())
      }
      if (refused.length > 0) await alerts.raise(tx, refusedAlert(agent, refused))
    })
  }
}

const conflictMessage = 'The agent has a folder of its own of this name.'

function resultOf(status: SkillResult['status'], error: string | null = null): SkillResult {
  return { status, version: null, warnings: [], error }
}

function patchOf(result: SkillResult, skill: LibrarySkill | undefined, at: string): Partial<AssignmentRow> {
  const { status, error, version } = result
  const patch = {
    delivery_status: status,
    delivered_at: at,
    warnings: JSON.stringify(result.warnings),
    error,
  }
  // A failed skill keeps its earlier version.
  if (version === null || !skill) return patch
  const { source, facts } = skill
  return { ...patch, version, source_id: source.id, source_name: source.name, description: facts.description }
}

/** Ends a pending assignment of a skill that is no longer in any source. */
function stalePatch({ delivery_status, version }: AssignmentRow, at: string): Partial<AssignmentRow> | null {
  if (delivery_status !== 'pending' || version !== null) return null
  return { delivery_status: 'failed', delivered_at: at, error: staleMessage }
}

function refusedAlert(agent: Pick<Agent, 'id' | 'name'>, refused: readonly string[]): PlatformAlert {
  return {
    agentId: agent.id,
    kind: 'skills_removal_refused',
    title: `${refused.length} skills of ${agent.name} were not removed`,
    question: `They are in its workspace and assigned no more, which is unusually many at once: ${refused.slice(0, 20).join(', ')}. Assign them again, or take them away one by one.`,
    priority: 'high',
    context: { skills: refused.slice(0, 100) },
  }
}
