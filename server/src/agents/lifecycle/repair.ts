import { type Clock, timestamp } from '../../kit/clock.ts'
import type { ContainerState, Containers } from '../../ports/containers/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import type { Leftovers } from './leftovers.ts'
import type { Lock } from './lock.ts'
import type { Observe } from './observe.ts'
import type { Operations } from './operations.ts'
import { plan } from './rules.ts'

/**
 * The engine's own restart policy is not enough: an engine that was killed leaves containers down. So the
 * rows are compared with what the engine has, when the platform starts, whenever the engine comes back, and
 * every minute.
 */
export type Repair = { pass(signal?: AbortSignal): Promise<void> }

export type RepairDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'info' | 'warn'>
  agentRecords: Pick<AgentRecords, 'everyRow'>
  containers: Pick<Containers, 'list'>
  lock: Lock
  observe: Observe
  operations: Pick<Operations, 'bringInLine'>
  leftovers: Leftovers
  /** Undoes what features made for an agent whose creation was cut off. */
  abandoned(tx: Tx, agentId: string): Promise<void>
}

/** How many agents are brought in line side by side: an engine starts a few containers at once well. */
const width = 4
/** The engine restarts what crashed by itself within seconds; only then is it our turn. */
export const restartGraceMs = 10_000

export function createRepair(deps: RepairDeps): Repair {
  const { db, clock, log, agentRecords, containers, lock, observe, operations, leftovers } = deps
  const reported = new Set<string>()

  async function pass(signal?: AbortSignal): Promise<void> {
    // Rows first: a container that a row names is then older than the list.
    const agents = await agentRecords.everyRow()
    const listedAt = timestamp(clock.now())
    const states = await containers.list()
    const byId = new Map(states.map((state) => [state.id, state]))
    const queue = agents.values()
    const worker = async () => {
      for (const agent of queue) {
        if (signal?.aborted) return
        await repairOne(agent, byId, listedAt).catch((error: unknown) => {
          log.warn(
            { err: error, agent: agent.name },
            'an agent could not be brought in line; tried again later',
          )
        })
      }
    }
    await Promise.all(Array.from({ length: width }, worker))
    await leftovers.clearAll()
    await reportStrangers(states, agents)
  }

  async function repairOne(agent: Agent, byId: Map<string, ContainerState>, listedAt: string) {
    if (agent.state === 'creating') return abandon(agent)
    const seen = agent.container_id === null ? null : (byId.get(agent.container_id) ?? null)
    if (agent.status === 'exited' && seen?.status !== 'running' && isFresh(agent)) return
    await look(agent, seen, listedAt)
    const todo = plan({ desired: agent.desired, held: agent.held, seen, reasons: [] })
    if (todo.length === 0) return
    if (await operations.bringInLine(agent.id)) {
      log.info({ agent: agent.name, desired: agent.desired }, 'an agent was brought in line')
    }
  }

  /** News that the event stream did not bring. */
  async function look(agent: Agent, seen: ContainerState | null, listedAt: string): Promise<void> {
    if (agent.desired !== 'running') return
    if (seen?.status === 'running') {
      if (agent.status === 'exited') await observe.started(agent, { at: listedAt, from: 'list' })
    } else if (agent.status === 'running') {
      const { exitCode = null, oomKilled = false } = seen ?? {}
      await observe.exited(agent, { at: listedAt, from: 'list', exitCode, oomKilled })
    }
  }

  function isFresh(agent: Agent): boolean {
    return clock.now().getTime() - Date.parse(agent.observed_at) < restartGraceMs
  }

  /** Its creator holds the lock for as long as it lives. */
  async function abandon(agent: Agent): Promise<void> {
    const leftover = await lock.tryRun(agent.id, () =>
      db.atomically(async (tx) => {
        const present = await agentStore(tx).byId(agent.id)
        if (present?.state !== 'creating') return null
        await deps.abandoned(tx, agent.id)
        return leftovers.leaveBehind(tx, present)
      }),
    )
    if (!leftover) return
    log.warn({ agent: agent.name }, 'an agent whose creation was cut off was removed')
    await leftovers.clear(leftover)
  }

  /** Reported once, never removed by themselves. */
  async function reportStrangers(states: ContainerState[], agents: readonly Agent[]): Promise<void> {
    const known = new Set(agents.map((agent) => agent.id))
    for (const { id, name, labels } of states) {
      if (labels['roost.platform'] !== 'agent' || known.has(labels['roost.agent-id'] ?? '')) continue
      if (reported.has(id) || (await agentStore(db).byId(labels['roost.agent-id'] ?? ''))) continue
      reported.add(id)
      log.warn({ container: name }, 'a container of this installation belongs to no agent')
    }
  }

  return { pass }
}
