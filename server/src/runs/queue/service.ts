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
  /** The line as it is; a guest of the agent is shown its own runs, in their places among all. */
  show(reader: Reader, agentName: string): Promise<AgentQueue>
  /** Cancels everything that waits, held runs of fan-outs too, and answers how many there were. */
  clear(agentId: string, by: SignedIn): Promise<number>
  /**
   * Cancels everything that has not ended: what runs, waits, is held or is to be retried. The agent is not told:
   * for one that is stopped next.
   */
  cancelOpen(agentId: string, by: SignedIn): Promise<number>
}

/** A line is bounded at 50, and what the platform starts by itself comes on top of that. */
const mostShown = 500

/** Of one moment: a run that is handed out is in the line or has a slot, never both. */
async function standing(queue: QueueStore, agentId: string) {
  const line = await queue.firstQueued(agentId, mostShown)
  const active = (await queue.runningKeys(agentId)).length
  const waiting = line.length < mostShown ? line.length : await queue.countWaiting(agentId)
  return { line, active, waiting }
}

export function createQueue({ db, settle }: QueueDeps): Queue {
  /** Answers how many were ended by this call. */
  async function endAll(
    agentId: string,
    pick: (queue: QueueStore) => Promise<ExecutionRow[]>,
    error: string,
  ): Promise<number> {
    return db.atomically(async (tx) => {
      const queue = queueStore(tx)
      // Held, so that nothing is handed out while it is being emptied.
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
      const { line, active, waiting } = await db.snapshot((on) => standing(queueStore(on), agentId))
      return {
        agent_name: agentName,
        active,
        queue_length: waiting,
        queued_executions: line
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
