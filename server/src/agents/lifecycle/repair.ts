import { type Clock, timestamp } from '../../kit/clock.ts'
import type { ContainerState, Containers } from '../../ports/containers/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Agent, type AgentRecords, agentStore, type Waiting } from '../records/index.ts'
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

/** Agents, or what deleted ones left, handled concurrently; the engine handles a few container starts at once. */
const concurrency = 4
/** After this time the pass continues with the next one; the operation ends by itself and holds only its agent's lock. */
const patienceMs = 15_000
/** A container that waits longer is started again: the engine's settings may have changed since its start. */
const pendingLimitMs = 60_000
/** Between two starts of a waiting container by this process. Each may hold the agent's lock for a minute. */
const startAgainMs = 10 * 60_000
/** After an attempt during another operation of the agent. */
const busyRetryMs = 60_000
/** The engine restarts crashed containers within seconds; the platform intervenes only later. */
export const restartGraceMs = 10_000

export function createRepair(deps: RepairDeps): Repair {
  const { db, clock, log, agentRecords, containers, lock, observe, operations, placement, leftovers } = deps
  const reported = new Set<string>()
  /** Ids of agents and leftovers whose operation is still running. */
  const slow = new Set<string>()
  /** When this process last started a waiting container again, in milliseconds, by agent. */
  const startedAgain = new Map<string, number>()

  async function pass(signal?: AbortSignal): Promise<void> {
    // Reads the rows first, so that every container named by a row is older than the list.
    const agents = await agentRecords.everyRow()
    const listedAt = timestamp(clock.now())
    const states = await containers.list()
    const byId = new Map(states.map((state) => [state.id, state]))
    const byAgent = Map.groupBy(states.filter(isAgents), ({ labels }) => labels['roost.agent-id'] ?? '')
    const overdue: Agent[] = []
    await forEach(agents, signal, (agent) =>
      patiently(agent.id, couldNotReconcile(agent), async () => {
        const isOverdue = await repairOne(agent, { byId, own: byAgent.get(agent.id) ?? [], listedAt })
        if (isOverdue) overdue.push(agent)
      }),
    )
    await forEach(await leftovers.all(), signal, (leftover) =>
      patiently(leftover.id, couldNotClear, () => leftovers.clear(leftover)),
    )
    await patiently('former workspaces', couldNotClear, deps.clearFormer)
    // Last, and only a few in each pass, because each may take all the patience.
    const longestAgo = overdue.toSorted((a, b) => lastStartOf(a.id) - lastStartOf(b.id))
    await forEach(longestAgo.slice(0, concurrency), signal, (agent) =>
      patiently(agent.id, couldNotReconcile(agent), () => startAgain(agent)),
    )
    await reportUnknown(states, agents)
  }

  async function forEach<T>(
    items: readonly T[],
    signal: AbortSignal | undefined,
    work: (item: T) => Promise<void>,
  ): Promise<void> {
    const queue = items.values()
    const worker = async () => {
      for (const item of queue) {
        if (signal?.aborted) return
        await work(item)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
  }

  /** Work that hangs must not delay the rest of the pass. Later passes skip it until it ends. */
  async function patiently(id: string, failed: (error: unknown) => void, work: () => Promise<unknown>) {
    if (slow.has(id)) return
    slow.add(id)
    const working = work()
      .catch(failed)
      .finally(() => slow.delete(id))
    const waited = new AbortController()
    await Promise.race([working, clock.wait(patienceMs, waited.signal)])
    waited.abort()
  }

  const couldNotReconcile = (agent: Agent) => (error: unknown) =>
    log.warn({ err: error, agent: agent.name }, 'could not reconcile an agent; will retry')
  const couldNotClear = (error: unknown) =>
    log.warn({ err: error }, 'could not remove what agents have left; will retry')

  /** Returns true for an agent that has been waiting for so long that it is to be started again. */
  async function repairOne(
    agent: Agent,
    { byId, own, listedAt }: { byId: Map<string, ContainerState>; own: ContainerState[]; listedAt: string },
  ): Promise<boolean> {
    // The repair loop of its own engine compares it.
    if (!(await placement.adopt(agent))) {
      await stopMoved(agent, own)
      return false
    }
    if (agent.state === 'creating') {
      await removeInterrupted(agent)
      return false
    }
    const observed = agent.container_id === null ? null : (byId.get(agent.container_id) ?? null)
    if (agent.status === 'exited' && observed?.status !== 'running' && isRecent(agent)) return false
    const { desired, held } = agent
    const isWanted = desired === 'running' && !held
    if (isWanted && observed?.waiting && (observed.status === 'pending' || observed.status === 'lost')) {
      const waiting = { state: observed.status, ...observed.waiting }
      await observe.waiting(agent, waiting)
      const due = await deps.takeoverDue({ ...agent, waiting })
      if (due === null || due > clock.now().getTime()) return isOverdue(agent.id, waiting)
    }
    const hasArrived = isWanted && agent.waiting !== null && observed?.status === 'running'
    if (!hasArrived) await observeState(agent, observed, listedAt)
    const planned = plan({ desired, held, observed, reasons: [] })
    if (planned.length === 0 && !hasArrived) return false
    if (await operations.reconcile(agent.id)) {
      log.info({ agent: agent.name, desired: agent.desired }, 'an agent was reconciled')
    }
    return false
  }

  function isOverdue(agentId: string, { state, since }: Waiting): boolean {
    const dueAt = Math.max(Date.parse(since) + pendingLimitMs, lastStartOf(agentId) + startAgainMs)
    return state === 'pending' && dueAt <= clock.now().getTime()
  }

  /** Like a start by the owner: applies changed settings, in a new container if necessary. It usually waits again. */
  async function startAgain({ id }: Agent): Promise<void> {
    const now = clock.now().getTime()
    startedAgain.set(id, now)
    // Another operation is running, perhaps one that does not start it.
    if ((await operations.reconcile(id)) === null) startedAgain.set(id, now - startAgainMs + busyRetryMs)
  }

  /** 0 for an agent that this process has not started again. */
  const lastStartOf = (agentId: string) => startedAgain.get(agentId) ?? 0

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
