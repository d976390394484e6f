import type { RunContext, RunContexts } from '../../agents/run-context/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
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
import { collaborationEvent } from './collaboration.ts'
import { createRefusals, type Refusals, type RefusalsDeps } from './refusals.ts'
import type { RunRequest } from './request.ts'
import { type Place, rowOf } from './row.ts'
import { isBounded, maxChainDepth } from './rules.ts'
import { attachmentStore } from './store.ts'

export type Accepted = {
  row: ExecutionRow
  /** Place among the waiting, from 1; 0 when a slot is free for it. */
  position: number
}

export type AcceptDeps = RefusalsDeps & {
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  link: Pick<AgentLink, 'wake'>
  facts: RunContexts
  breaker: DispatchBreaker
  queueDepth: number
}

export type Accept = Pick<Refusals, 'transaction'> & {
  /** The agent, when it takes runs. Throws `agent_not_found`, `agent_not_running`. Ask before the transaction. */
  checkAgent(agentId: string): Promise<RunContext>
  /**
   * Takes a run in, inside the caller's transaction: breaker and bound are checked, the row and its event are
   * written, and the agent is woken after the commit. `agent` is what `admit` gave, `tx` of `transaction`.
   * Throws `circuit_open`, `queue_full`, `inter_agent_depth_exceeded`; then nothing is kept in `tx`.
   */
  enqueue(tx: Tx, agent: RunContext, request: RunRequest): Promise<Accepted>
  /**
   * Takes several runs of one source in, all of them or none, in their order. The first `entering` get their
   * place in the line at once and must fit its bound together; the others are held until `enterIn` gives them
   * one, and are never refused: they were accepted here. While the breaker is half open only the
   * first enters, as its probe. Throws as `acceptIn` does.
   */
  enqueueAll(
    tx: Tx,
    agent: RunContext,
    requests: readonly RunRequest[],
    entering: number,
  ): Promise<ExecutionRow[]>
  /**
   * Gives held runs their place in the line, in order; `choose` says which, while the agent's queue is held.
   * While the breaker is not closed one of them may enter as its probe, or none.
   */
  release(tx: Tx, agentId: string, choose: () => Promise<readonly string[]>): Promise<void>
}

export function createAccept(deps: AcceptDeps): Accept {
  const { clock, events, link, facts, breaker, queueDepth } = deps
  const refusals = createRefusals(deps)

  /** The row, its files and its event. */
  async function keep(tx: Tx, agent: RunContext, request: RunRequest, place: Place): Promise<ExecutionRow> {
    const row = rowOf(agent, request, place)
    tx.alongside(executionStore(tx).insert(row))
    if (request.attachments?.length) await attachmentStore(tx).add(row.id, request.attachments)
    await events.append(tx, createdEvent(row), place.now)
    return row
  }

  async function tellCall(tx: Tx, first: ExecutionRow, now: Date): Promise<void> {
    const call = collaborationEvent(first)
    if (call) await events.append(tx, call, now)
  }

  async function askBreaker(tx: Tx, agentId: string, executionId: string) {
    try {
      // The agent's name is for the refusal's words, which nobody is told here.
      return await breaker.admitIn(tx, { id: agentId, name: agentId }, executionId)
    } catch (error) {
      if (isFault(error, 'circuit_open')) return 'refused'
      throw error
    }
  }

  return {
    transaction: refusals.transaction,

    async checkAgent(agentId) {
      const agent = await facts.find(agentId)
      if (!agent) throw new Fault('agent_not_found')
      if (agent.status !== 'running') {
        throw new Fault('agent_not_running', `The agent "${agent.name}" is ${agent.status}: start it first.`)
      }
      return agent
    },

    async enqueue(tx, agent, request) {
      const id = request.executionId ?? newId()
      const sessionId = request.sessionId ?? null
      const [number, line] = await lockAndCount(tx, agent.id, { count: 1, sessionId })
      const now = clock.now()
      await refusals.of({ agent, request }, () => breaker.admitIn(tx, agent, id))
      const bounded = countsInLine(request)
      if (bounded) refuseWhenFull(agent, line, { queueDepth, entering: 1 })
      const position = positionIn(agent, line)
      const chain_depth = await chainDepth(tx, request)
      const place = { id, number, bounded, chain_depth, now, behind: line.last_place }
      const row = await keep(tx, agent, request, place)
      await tellCall(tx, row, now)
      tx.onCommitted(() => link.wake(agent.id))
      return { row, position }
    },

    async enqueueAll(tx, agent, requests, asked) {
      const [first] = requests
      if (!first) return []
      const firstId = newId()
      const [last, line] = await lockAndCount(tx, agent.id, { count: requests.length, sessionId: null })
      const now = clock.now()
      const admission = await refusals.of({ agent, request: first }, () =>
        breaker.admitIn(tx, agent, firstId),
      )
      const entering = admission === 'probe' ? 1 : asked
      const counted = requests.slice(0, entering).filter(countsInLine).length
      if (counted > 0) refuseWhenFull(agent, line, { queueDepth, entering: counted })
      const chain_depth = await chainDepth(tx, first)
      const rows: ExecutionRow[] = []
      for (const [index, request] of requests.entries()) {
        const held = index >= entering
        const number = last - requests.length + 1 + index
        const id = index === 0 ? firstId : newId()
        const bounded = !held && countsInLine(request)
        const place = { id, number, held, bounded, chain_depth, now, behind: line.last_place }
        const row = await keep(tx, agent, request, place)
        if (index === 0) await tellCall(tx, row, now)
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
        const admission = await askBreaker(tx, agentId, id)
        if (admission !== 'refused') await queue.release(id, at)
        if (admission !== 'free') break
      }
      tx.onCommitted(() => link.wake(agentId))
    },
  }
}

function countsInLine({ triggeredBy }: RunRequest): boolean {
  return isBounded(triggeredBy)
}

/** Sent together: what is counted is counted once the queue is held. */
function lockAndCount(tx: Tx, agentId: string, of: { count: number; sessionId: string | null }) {
  const queue = queueStore(tx)
  return Promise.all([queue.lockQueue(agentId, of.count), queue.queueLength(agentId, of.sessionId)])
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

/** What waits for slots that are free already is before it and leaves it the others. */
function positionIn(agent: RunContext, { waiting, running, of_key }: QueueCounts): number {
  return waiting + running < agent.effective_slots && of_key === 0 ? 0 : waiting + 1
}

/**
 * Hops from a person to this run. A calling agent does not say which of its runs calls, so the deepest of
 * them counts: a loop of agents cannot hide behind a shallow one.
 */
async function chainDepth(tx: Tx, { source, chainDepth: least = 0 }: RunRequest): Promise<number> {
  const running = source.agent ? await queueStore(tx).runningOf(source.agent.id) : []
  const called = source.agent ? 1 + Math.max(0, ...running.map((row) => row.chain_depth)) : 0
  const depth = Math.max(least, called)
  if (depth > maxChainDepth) throw new Fault('inter_agent_depth_exceeded')
  return depth
}
