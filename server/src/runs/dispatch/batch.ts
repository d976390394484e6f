import type { RunContext } from '../../agents/run-context/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { DispatchBreaker } from '../breaker/index.ts'
import {
  createdEvent,
  type ExecutionRow,
  executionStore,
  finishedEvent,
  queueStore,
} from '../executions/index.ts'
import { type NotRun, notRunRow } from './record.ts'
import type { RunRequest } from './request.ts'
import { rowOf } from './row.ts'
import { isBounded } from './rules.ts'

export type BatchDeps = {
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'appendAll'>
  link: Pick<AgentLink, 'wake'>
  breaker: DispatchBreaker
}

/** A run to take in, or the record of one that is not made. */
export type Entry = { agent: RunContext; request: RunRequest; why: NotRun | null }

export type Batch = {
  /**
   * Holds the queues of several agents, and their breakers, until the transaction ends: many runs are taken in
   * by a handful of statements. `counts` says how many entries each agent gets at most; its other numbers stay
   * unused.
   */
  lockQueues(tx: Tx, counts: ReadonlyMap<string, number>): Promise<LockedQueues>
}

export type LockedQueues = {
  /** Runs of these may be entered. The breaker of another one wants to be asked for each run: `acceptIn`. */
  free: ReadonlySet<string>
  /**
   * Writes the rows and their events, in order; agents with new runs are woken after the commit. Only for runs
   * that the platform starts by itself, which count against no bound and come from no agent.
   */
  insertAll(entries: readonly Entry[], now: Date): ExecutionRow[]
}

export function createBatch({ events, link, breaker }: BatchDeps): Batch {
  return {
    async lockQueues(tx, counts) {
      // Sent together, the queues first.
      const [lasts, free] = await Promise.all([
        queueStore(tx).lockQueues(counts),
        breaker.freeIn(tx, [...counts.keys()]),
      ])
      const next = new Map(
        [...counts].map(([agentId, count]) => [agentId, (lasts.get(agentId) ?? count) - count + 1]),
      )

      function numberOf(agentId: string): number {
        const number = next.get(agentId)
        if (number === undefined) throw new Error(`The queue of ${agentId} is not held.`)
        next.set(agentId, number + 1)
        return number
      }

      return {
        free,
        insertAll(entries, now) {
          const rows = entries.map((entry) => rowIn(entry, { number: numberOf(entry.agent.id), now }))
          tx.alongside(executionStore(tx).insertAll(rows))
          events.appendAll(tx, rows.flatMap(eventsOf), now)
          const woken = new Set(rows.filter(isWaiting).map((row) => row.agent_id))
          tx.onCommitted(() => {
            for (const agentId of woken) link.wake(agentId)
          })
          return rows
        },
      }
    },
  }
}

function rowIn({ agent, request, why }: Entry, at: { number: number; now: Date }): ExecutionRow {
  if (why) return notRunRow({ agent, request, why }, at)
  if (isBounded(request.triggeredBy) || request.source.agent || request.attachments?.length)
    throw new Error('Only runs that the platform starts by itself are taken in together.')
  const id = request.executionId ?? newId()
  return rowOf(agent, request, { id, bounded: false, chain_depth: 0, ...at })
}

function eventsOf(row: ExecutionRow) {
  return isWaiting(row) ? [createdEvent(row)] : [createdEvent(row), finishedEvent(row)]
}

function isWaiting({ status }: ExecutionRow): boolean {
  return status === 'queued'
}
