import type { Tx } from '../../ports/database/port.ts'
import { type ExecutionRow, executionStore, queueStore, type Settle } from '../executions/index.ts'

/** What becomes of an agent's runs when it is stopped or deleted; hooks of the agents area. */
export function createAgentEnd({ settle }: Settle) {
  async function cancel(
    tx: Tx,
    rows: readonly ExecutionRow[],
    ending: { error: string; error_code: 'agent_stopped' | 'agent_deleted' },
  ): Promise<void> {
    for (const row of rows) {
      await settle(
        tx,
        row,
        { statuses: [row.status] },
        {
          status: 'cancelled',
          terminal_reason: 'cancelled',
          ...ending,
        },
      )
    }
  }

  return {
    /** Ends what is running and leaves what waits. */
    async agentStopped(tx: Tx, agentId: string): Promise<void> {
      const queue = queueStore(tx)
      await queue.lockQueue(agentId)
      await cancel(tx, await queue.runningOf(agentId), {
        error: 'The agent was stopped.',
        error_code: 'agent_stopped',
      })
    },

    /** Ends everything; the history stays, for admins. */
    async agentDeleted(tx: Tx, agentId: string): Promise<void> {
      const queue = queueStore(tx)
      await queue.lockQueue(agentId)
      const open = [...(await queue.runningOf(agentId)), ...(await queue.waitingRows(agentId))]
      await cancel(tx, open, { error: 'The agent was deleted.', error_code: 'agent_deleted' })
      await executionStore(tx).markAgentDeleted(agentId)
      await queue.removeQueue(agentId)
    },
  }
}
