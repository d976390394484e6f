import type { RunContext } from '../../agents/run-context/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
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

/** A run to insert; `why` is the reason that it does not start, or null. */
export type Entry = { agent: RunContext; request: RunRequest; why: NotRun | null }

export type Batch = {
  /**
   * Locks the queues and breakers of several agents until the transaction ends, so that a few statements record
   * many runs. `counts` is the maximum number of entries per agent; unused queue numbers are skipped.
   */
  lockQueues(tx: Tx, counts: ReadonlyMap<string, number>): Promise<LockedQueues>
}

export type LockedQueues = {
  /** The schedules of these agents with a run that is queued, running or about to be retried. */
  activeSchedules: ReadonlySet<string>
  /** Asks the breaker of the agent; call it for each run before `insertAll`. A half-open one admits one probe. */
  admit(agent: RunContext, executionId: string): Promise<'free' | 'probe' | 'refused'>
  /**
   * Inserts the rows and events in order; wakes agents with new runs after the commit. Only for runs that the
   * platform starts, which have no queue limit and no calling agent.
   */
  insertAll(entries: readonly Entry[], now: Date): ExecutionRow[]
}

export function createBatch({ events, link, breaker }: BatchDeps): Batch {
  return {
    async lockQueues(tx, counts) {
      const agentIds = [...counts.keys()]
      const queue = queueStore(tx)
      // Sent together, the locks first.
      const [lasts, free, { activeSchedules, lastQueuedAt }] = await Promise.all([
        queue.lockQueues(counts),
        breaker.freeIn(tx, agentIds),
        queue.openRuns(agentIds),
      ])
      const next = new Map(
        [...counts].map(([agentId, count]) => [agentId, (lasts.get(agentId) ?? count) - count + 1]),
      )
      const probedAgents = new Set<string>()

      function numberOf(agentId: string): number {
        const number = next.get(agentId)
        if (number === undefined) throw new Error(`The queue of ${agentId} is not locked.`)
        next.set(agentId, number + 1)
        return number
      }

      return {
        activeSchedules,

        async admit(agent, executionId) {
          if (free.has(agent.id)) return 'free'
          // At most one run gets through a breaker that is not closed.
          if (probedAgents.has(agent.id)) return 'refused'
          probedAgents.add(agent.id)
          try {
            return await breaker.admitIn(tx, agent, executionId)
          } catch (error) {
            if (isFault(error, 'circuit_open')) return 'refused'
            throw error
          }
        },

        insertAll(entries, now) {
          const rows = entries.map((entry) =>
            rowIn(entry, {
              number: numberOf(entry.agent.id),
              behind: lastQueuedAt.get(entry.agent.id) ?? null,
              now,
            }),
          )
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

function rowIn(
  { agent, request, why }: Entry,
  place: { number: number; behind: string | null; now: Date },
): ExecutionRow {
  if (why) return notRunRow({ agent, request, notRun: why }, place)
  if (isBounded(request.triggeredBy) || request.source.agent || request.attachments?.length)
    throw new Error('Only runs that the platform itself starts can be recorded in a batch.')
  const id = request.executionId ?? newId()
  return rowOf(agent, request, { id, bounded: false, chain_depth: 0, ...place })
}

function eventsOf(row: ExecutionRow) {
  return isWaiting(row) ? [createdEvent(row)] : [createdEvent(row), finishedEvent(row)]
}

function isWaiting({ status }: ExecutionRow): boolean {
  return status === 'queued'
}
