import type { AgentQueue } from '@roost/contracts/runs/queue'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { Db } from '../../ports/database/port.ts'
import {
  type ExecutionRow,
  maySee,
  nameOf,
  type QueueStore,
  queueStore,
  type Reader,
  type Settle,
} from '../executions/index.ts'

export type QueueDeps = Settle & { db: Db }

export type Queue = {
  /** The current queue; a calling agent sees its own runs at their positions among all. */
  show(reader: Reader, agentName: string): Promise<AgentQueue>
  /** Cancels every waiting run, held fan-out runs included, and returns their number. */
  clear(agentId: string, by: SignedIn): Promise<number>
  /**
   * Cancels every open run: running, queued, held, or planned as a retry. The agent is not notified, because
   * it is stopped next.
   */
  cancelOpen(agentId: string, by: SignedIn): Promise<number>
}

/** A queue is limited to 50, but runs that the platform starts come on top. */
const maxShown = 500

/** Reads one snapshot: a claimed run is either queued or active, never both. */
async function readQueue(queue: QueueStore, agentId: string) {
  const queued = await queue.firstQueued(agentId, maxShown)
  const active = (await queue.runningKeys(agentId)).length
  const waiting = queued.length < maxShown ? queued.length : await queue.countWaiting(agentId)
  return { queued, active, waiting }
}

export function createQueue({ db, settle }: QueueDeps): Queue {
  /** Returns how many runs this call ended. */
  async function endAll(
    agentId: string,
    pick: (queue: QueueStore) => Promise<ExecutionRow[]>,
    error: string,
  ): Promise<number> {
    return db.atomically(async (tx) => {
      const queue = queueStore(tx)
      // The lock prevents claims during the clearing.
      await queue.lockQueue(agentId)
      let cancelled = 0
      for (const row of await pick(queue)) {
        const ending = { error, error_code: 'user_cancelled', terminal_reason: 'cancelled' } as const
        const ended = await settle(tx, row, { statuses: [row.status] }, { status: 'cancelled', ...ending })
        if (ended) cancelled += 1
      }
      return cancelled
    })
  }

  return {
    async show({ caller, agentId, relation }, agentName) {
      const { queued, active, waiting } = await db.snapshot((on) => readQueue(queueStore(on), agentId))
      return {
        agent_name: agentName,
        active,
        queue_length: waiting,
        queued_executions: queued
          .map((row, index) => ({ row, position: index + 1 }))
          .filter(({ row }) => maySee(caller, relation, row))
          .map(({ row: { id, triggered_by, queued_at }, position }) => ({
            execution_id: id,
            triggered_by,
            queued_at,
            position,
          })),
      }
    },

    clear: (agentId, by) =>
      endAll(agentId, ({ queuedOf }) => queuedOf(agentId), `The queue was cleared by ${nameOf(by)}.`),

    cancelOpen: (agentId, by) =>
      endAll(
        agentId,
        async ({ runningOf, waitingRows }) => [
          ...(await runningOf(agentId)),
          ...(await waitingRows(agentId)),
        ],
        `Cancelled by an emergency stop of ${nameOf(by)}.`,
      ),
  }
}
