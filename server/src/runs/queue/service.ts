import type { AgentQueue } from '@roost/contracts/runs/queue'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { Db } from '../../ports/database/port.ts'
import { maySee, nameOf, queueStore, type Reader, type Settle } from '../executions/index.ts'

export type QueueDeps = Settle & { db: Db }

export type Queue = {
  /** The line as it is; a guest of the agent is shown its own runs, in their places among all. */
  show(reader: Reader, agentName: string): Promise<AgentQueue>
  /** Cancels everything that waits, held runs of fan-outs too, and answers how many there were. */
  clear(agentId: string, by: SignedIn): Promise<number>
}

/** A line is bounded at 50, and what the platform starts by itself comes on top of that. */
const mostShown = 500

export function createQueue({ db, settle }: QueueDeps): Queue {
  return {
    async show({ caller, agentId, relation }, agentName) {
      const queue = queueStore(db)
      const line = await queue.line(agentId, mostShown)
      return {
        agent_name: agentName,
        active: (await queue.runningOf(agentId)).length,
        queue_length: line.length < mostShown ? line.length : await queue.countWaiting(agentId),
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

    async clear(agentId, by) {
      return db.atomically(async (tx) => {
        const queue = queueStore(tx)
        // Held, so that nothing is handed out while it is being emptied.
        await queue.lockQueue(agentId)
        let cancelled = 0
        for (const row of await queue.queuedOf(agentId)) {
          const ended = await settle(
            tx,
            row,
            { statuses: ['queued'] },
            {
              status: 'cancelled',
              error: `The queue was cleared by ${nameOf(by)}.`,
              error_code: 'user_cancelled',
              terminal_reason: 'cancelled',
            },
          )
          if (ended) cancelled += 1
        }
        return cancelled
      })
    },
  }
}
