import { type Clock, timestamp } from '../../kit/clock.ts'
import type { ContainerState, Containers } from '../../ports/containers/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import type { Leftovers } from './leftovers.ts'
import type { Lock } from './lock.ts'
import { stopGraceSeconds } from './machine.ts'
import type { Observe } from './observe.ts'
import type { Operations } from './operations.ts'
import type { Placement } from './placement.ts'
import { plan } from './rules.ts'

/**
 * Compares the rows with the engine's containers at startup, whenever the engine comes back, and every
 * minute. The engine's restart policy is not enough: a killed engine leaves containers down.
 */
export type Repair = { pass(signal?: AbortSignal): Promise<void> }

export type RepairDeps = {
  db: Db
  clock: Pick<Clock, 'now' | 'wait'>
  log: Pick<Log, 'info' | 'warn'>
  agentRecords: Pick<AgentRecords, 'everyRow'>
  containers: Pick<Containers, 'list' | 'stop'>
  lock: Lock
  observe: Observe
  operations: Pick<Operations, 'reconcile'>
  takeoverDue(agent: Agent): Promise<number | null>
  placement: Pick<Placement, 'adopt' | 'isHere'>
  leftovers: Leftovers
  /** Removes the containers of workspaces that agents have left. */
  clearFormer(): Promise<void>
  /** Reverts what other features created for an agent whose creation was interrupted. */
  undoCreation(tx: Tx, agentId: string): Promise<void>
}

/** Agents reconciled concurrently; the engine handles a few container starts at once. */
const concurrency = 4
/** After this time the pass goes on to the next agent; the operation ends by itself and holds only its agent's lock. */
const patienceMs = 15_000
/** The engine restarts crashed containers within seconds; the platform intervenes only later. */
export const restartGraceMs = 10_000

export function createRepair(deps: RepairDeps): Repair {
  const { db, clock, log, agentRecords, containers, lock, observe, operations, placement, leftovers } = deps
  const reported = new Set<string>()
  /** Agents whose operation is still running. */
  const slow = new Set<string>()

  async function pass(signal?: AbortSignal): Promise<void> {
    // Reads the rows first, so that every container named by a row is older than the list.
    const agents = await agentRecords.everyRow()
    const listedAt = timestamp(clock.now())
    const states = await containers.list()
    const byId = new Map(states.map((state) => [state.id, state]))
    const byAgent = Map.groupBy(states.filter(isAgents), ({ labels }) => labels['roost.agent-id'] ?? '')
    const queue = agents.values()
    const worker = async () => {
      for (const agent of queue) {
        if (signal?.aborted) return
        await patiently(agent, () =>
          repairOne(agent, { byId, own: byAgent.get(agent.id) ?? [], listedAt }).catch((error: unknown) => {
            log.warn({ err: error, agent: agent.name }, 'could not reconcile an agent; will retry')
          }),
        )
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
    await leftovers.clearAll()
    await deps.clearFormer()
    await reportUnknown(states, agents)
  }

  /** One agent whose start hangs must not delay the others. */
  async function patiently(agent: Agent, work: () => Promise<void>) {
    if (slow.has(agent.id)) return
    slow.add(agent.id)
    const working = work().finally(() => slow.delete(agent.id))
    const waited = new AbortController()
    await Promise.race([working, clock.wait(patienceMs, waited.signal)])
    waited.abort()
  }

  async function repairOne(
    agent: Agent,
    { byId, own, listedAt }: { byId: Map<string, ContainerState>; own: ContainerState[]; listedAt: string },
  ) {
    // The repair loop of its own engine compares it.
    if (!(await placement.adopt(agent))) return stopMoved(agent, own)
    if (agent.state === 'creating') return removeInterrupted(agent)
    const observed = agent.container_id === null ? null : (byId.get(agent.container_id) ?? null)
    if (agent.status === 'exited' && observed?.status !== 'running' && isRecent(agent)) return
    const { desired, held } = agent
    const isWanted = desired === 'running' && !held
    if (isWanted && observed?.waiting && (observed.status === 'pending' || observed.status === 'lost')) {
      const waiting = { state: observed.status, ...observed.waiting }
      await observe.waiting(agent, waiting)
      const due = await deps.takeoverDue({ ...agent, waiting })
      if (due === null || due > clock.now().getTime()) return
    }
    const hasArrived = isWanted && agent.waiting !== null && observed?.status === 'running'
    if (!hasArrived) await observeState(agent, observed, listedAt)
    const planned = plan({ desired, held, observed, reasons: [] })
    if (planned.length === 0 && !hasArrived) return
    if (await operations.reconcile(agent.id)) {
      log.info({ agent: agent.name, desired: agent.desired }, 'an agent was reconciled')
    }
  }

  /** Stops containers of an agent that another engine took over. Their program would compete for the link. */
  async function stopMoved({ id: agentId, name, engine_id }: Agent, own: ContainerState[]): Promise<void> {
    if (engine_id === null) return reportUnplaced(agentId, name)
    for (const { id, name: container, status } of own) {
      if (status === 'created' || status === 'stopped') continue
      await lock.tryRun(agentId, async () => {
        const current = await agentStore(db).byId(agentId)
        // With the recorded container here, not the agent has moved: the identity of the engine has changed.
        if (!current || current.container_id === id || (await placement.isHere(current))) return
        await containers.stop(id, stopGraceSeconds)
        log.warn(
          { agent: name, container, engine_id: current.engine_id },
          'stopped a container of an agent that is on another container engine now; its volumes remain',
        )
      })
    }
  }

  /** Another machine may have it, or none: only the operator knows. */
  function reportUnplaced(agentId: string, agent: string): void {
    if (reported.has(agentId)) return
    reported.add(agentId)
    log.warn(
      { agent },
      'this container engine has neither the container nor the workspace of an agent, and no engine is recorded; see ROOST_ADOPT_ENGINE',
    )
  }

  /** Records changes that the event stream missed. */
  async function observeState(
    agent: Agent,
    observed: ContainerState | null,
    listedAt: string,
  ): Promise<void> {
    if (agent.desired !== 'running') return
    if (observed?.status === 'running') {
      if (agent.status === 'exited') await observe.started(agent, { at: listedAt, from: 'list' })
    } else if (agent.status === 'running') {
      const { exitCode = null, oomKilled = false } = observed ?? {}
      await observe.exited(agent, { at: listedAt, from: 'list', exitCode, oomKilled })
    }
  }

  function isRecent(agent: Agent): boolean {
    return clock.now().getTime() - Date.parse(agent.observed_at) < restartGraceMs
  }

  /** A live creator holds the lock, so a free lock means that the creation was interrupted. */
  async function removeInterrupted(agent: Agent): Promise<void> {
    const leftover = await lock.tryRun(agent.id, () =>
      db.atomically(async (tx) => {
        const current = await agentStore(tx).byId(agent.id)
        if (current?.state !== 'creating') return null
        await deps.undoCreation(tx, agent.id)
        return leftovers.deleteRows(tx, current)
      }),
    )
    if (!leftover) return
    log.warn({ agent: agent.name }, 'removed an agent whose creation was interrupted')
    await leftovers.clear(leftover)
  }

  /** Reports unknown containers once and never removes them. */
  async function reportUnknown(states: ContainerState[], agents: readonly Agent[]): Promise<void> {
    const known = new Set(agents.map((agent) => agent.id))
    for (const state of states) {
      const { id, name, labels } = state
      if (!isAgents(state) || known.has(labels['roost.agent-id'] ?? '')) continue
      if (reported.has(id) || (await agentStore(db).byId(labels['roost.agent-id'] ?? ''))) continue
      reported.add(id)
      log.warn({ container: name }, 'a container of this installation belongs to no agent')
    }
  }

  return { pass }
}

function isAgents({ labels }: ContainerState): boolean {
  return labels['roost.platform'] === 'agent'
}
