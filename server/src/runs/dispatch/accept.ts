import type { FieldsOf } from '@roost/contracts/kit/event'
import type { agentCollaboration } from '@roost/contracts/runs/execution-events'
import { requireDiskRoom } from '../../agents/disk/index.ts'
import type { RunContext, RunContexts } from '../../agents/run-context/index.ts'
import type { NewEvent, Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { DispatchBreaker } from '../breaker/index.ts'
import {
  createdEvent,
  type ExecutionRow,
  executionStore,
  type QueueCounts,
  queueStore,
} from '../executions/index.ts'
import { chainDepth } from './chain-depth.ts'
import { createRefusals, type Refusals, type RefusalsDeps } from './refusals.ts'
import type { RunRequest } from './request.ts'
import { type Place, rowOf } from './row.ts'
import { isBounded } from './rules.ts'
import { attachmentStore } from './store.ts'

export type Accepted = {
  row: ExecutionRow
  /** Position in the queue, from 1; 0 when a slot is free for it. */
  position: number
}

export type AcceptDeps = RefusalsDeps & {
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  link: Pick<AgentLink, 'wake'>
  runContexts: RunContexts
  breaker: DispatchBreaker
  queueDepth: number
}

export type Accept = Pick<Refusals, 'transaction'> & {
  /**
   * Returns the agent if it accepts runs. Throws `agent_not_found`, `agent_not_running`. Call before the
   * transaction.
   */
  checkAgent(agentId: string): Promise<RunContext>
  /**
   * Enqueues a run in the caller's transaction, after breaker and queue limit, and wakes the agent after the
   * commit. `agent` comes from `checkAgent`, `tx` from `transaction`. Throws `circuit_open`, `queue_full`,
   * `inter_agent_depth_exceeded` and writes nothing.
   */
  enqueue(tx: Tx, agent: RunContext, request: RunRequest): Promise<Accepted>
  /**
   * Accepts several runs of one source, all or none, in order. The first `entering` are queued and must fit
   * the queue limit together. The others are held until `release`, and never rejected later. With a half-open
   * breaker only the first is queued, as its probe. Throws the errors of `enqueue`.
   */
  enqueueAll(
    tx: Tx,
    agent: RunContext,
    requests: readonly RunRequest[],
    entering: number,
  ): Promise<ExecutionRow[]>
  /**
   * Queues held runs in order; `choose` selects them under the lock of the agent's queue. Unless the breaker
   * is closed, at most one of them is queued, as its probe.
   */
  release(tx: Tx, agentId: string, choose: () => Promise<readonly string[]>): Promise<void>
}

export function createAccept(deps: AcceptDeps): Accept {
  const { clock, events, link, runContexts, breaker, queueDepth } = deps
  const refusals = createRefusals(deps)

  /** Writes the row, its files and its event. */
  async function insert(tx: Tx, agent: RunContext, request: RunRequest, place: Place): Promise<ExecutionRow> {
    // The agent's program writes attachments into the workspace when the run starts.
    if (request.attachments?.length) requireDiskRoom(agent)
    const row = rowOf(agent, request, place)
    tx.alongside(executionStore(tx).insert(row))
    if (request.attachments?.length) await attachmentStore(tx).add(row.id, request.attachments)
    await events.append(tx, createdEvent(row), place.now)
    return row
  }

  async function announceCall(tx: Tx, first: ExecutionRow, now: Date): Promise<void> {
    const call = collaborationEvent(first)
    if (call) await events.append(tx, call, now)
  }

  async function admissionOf(tx: Tx, agentId: string, executionId: string) {
    try {
      // The name is only used in the error message, which nobody sees here.
      return await breaker.admitIn(tx, { id: agentId, name: agentId }, executionId)
    } catch (error) {
      if (isFault(error, 'circuit_open')) return 'refused'
      throw error
    }
  }

  /**
   * Sends both statements together; the count runs once the queue is locked. Throws `agent_not_found` for an agent that
   * was deleted since `checkAgent`.
   */
  async function lockAndCount(tx: Tx, agentId: string, of: { count: number; sessionId: string | null }) {
    const queue = queueStore(tx)
    const [last, counts] = await Promise.all([
      queue.lockQueue(agentId, of.count),
      queue.queueLength(agentId, of.sessionId),
    ])
    // The deletion removes the queue, so this is the first run of an agent or comes too late.
    if (last === of.count && !(await runContexts.exists(tx, agentId))) throw new Fault('agent_not_found')
    return [last, counts] as const
  }

  return {
    transaction: refusals.transaction,

    async checkAgent(agentId) {
      const agent = await runContexts.find(agentId)
      if (!agent) throw new Fault('agent_not_found')
      if (agent.status !== 'running') {
        throw new Fault('agent_not_running', `The agent "${agent.name}" is ${agent.status}: start it first.`)
      }
      return agent
    },

    async enqueue(tx, agent, request) {
      const id = request.executionId ?? newId()
      const sessionId = request.sessionId ?? null
      const [number, counts] = await lockAndCount(tx, agent.id, { count: 1, sessionId })
      const now = clock.now()
      await refusals.of({ agent, request }, () => breaker.admitIn(tx, agent, id))
      const bounded = countsInQueue(request)
      if (bounded) refuseWhenFull(agent, counts, { queueDepth, entering: 1 })
      const position = positionIn(agent, counts)
      const chain_depth = await chainDepth(tx, request)
      const place = { id, number, bounded, chain_depth, now, behind: counts.last_place }
      const row = await insert(tx, agent, request, place)
      await announceCall(tx, row, now)
      tx.onCommitted(() => link.wake(agent.id))
      return { row, position }
    },

    async enqueueAll(tx, agent, requests, enqueueCount) {
      const [first] = requests
      if (!first) return []
      const firstId = newId()
      const [last, counts] = await lockAndCount(tx, agent.id, { count: requests.length, sessionId: null })
      const now = clock.now()
      const admission = await refusals.of({ agent, request: first }, () =>
        breaker.admitIn(tx, agent, firstId),
      )
      const entering = admission === 'probe' ? 1 : enqueueCount
      const counted = requests.slice(0, entering).filter(countsInQueue).length
      if (counted > 0) refuseWhenFull(agent, counts, { queueDepth, entering: counted })
      const chain_depth = await chainDepth(tx, first)
      const rows: ExecutionRow[] = []
      for (const [index, request] of requests.entries()) {
        const held = index >= entering
        const number = last - requests.length + 1 + index
        const id = index === 0 ? firstId : newId()
        const bounded = !held && countsInQueue(request)
        const place = { id, number, held, bounded, chain_depth, now, behind: counts.last_place }
        const row = await insert(tx, agent, request, place)
        if (index === 0) await announceCall(tx, row, now)
        rows.push(row)
      }
      tx.onCommitted(() => link.wake(agent.id))
      return rows
    },

    async release(tx, agentId, choose) {
      const queue = queueStore(tx)
      await queue.lockQueue(agentId)
      const at = await queue.endOfQueue(agentId, timestamp(clock.now()))
      for (const id of await choose()) {
        const admission = await admissionOf(tx, agentId, id)
        const entered = admission !== 'refused' && (await queue.release(id, at))
        // Cancelled since it was chosen: the next one may be the probe.
        if (admission === 'probe' && !entered) await breaker.withdraw(tx, agentId, id)
        else if (admission !== 'free') break
      }
      tx.onCommitted(() => link.wake(agentId))
    },
  }
}

function countsInQueue({ triggeredBy }: RunRequest): boolean {
  return isBounded(triggeredBy)
}

function refuseWhenFull(
  agent: RunContext,
  { bounded: waiting }: QueueCounts,
  { queueDepth, entering }: { queueDepth: number; entering: number },
): void {
  if (waiting + entering <= queueDepth) return
  const detail = `${waiting} executions are waiting for the agent "${agent.name}" already.`
  throw new Fault('queue_full', detail, { agent_name: agent.name, queue_length: waiting })
}

/** Earlier runs that wait for free slots take them first. */
function positionIn(agent: RunContext, { waiting, running, of_key }: QueueCounts): number {
  return waiting + running < agent.effective_slots && of_key === 0 ? 0 : waiting + 1
}

/**
 * The event of a call from one agent to another; null for calls of people and of the agent itself. `first` is
 * the accepted run, of several the first.
 */
export function collaborationEvent(first: ExecutionRow): NewEvent | null {
  const { source_agent_id, source_agent_name, agent_id, agent_name } = first
  if (source_agent_id === null || source_agent_name === null || source_agent_id === agent_id) return null
  const fields: FieldsOf<typeof agentCollaboration> = {
    source_agent: source_agent_name,
    target_agent: agent_name,
    action: actionOf(first),
    execution_id: first.id,
  }
  return {
    type: 'agent.collaboration',
    agent_names: [source_agent_name, agent_name],
    agent_ids: [source_agent_id, agent_id],
    fields,
  }
}

function actionOf({ kind, loop_id, fan_out_id }: ExecutionRow): 'chat' | 'task' | 'fan_out' | 'loop' {
  if (loop_id !== null) return 'loop'
  if (fan_out_id !== null) return 'fan_out'
  return kind
}
