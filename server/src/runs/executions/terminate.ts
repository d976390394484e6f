import type { Terminated } from '@roost/contracts/runs/executions'
import type { SignedIn } from '../../identity/access/caller.ts'
import { type AgentLink, LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import { isFinal } from './rules.ts'
import type { Settle } from './settle.ts'
import { type ExecutionRow, executionStore } from './store.ts'

/** Seconds between the termination signal and the kill of a runtime. */
export const cancelGraceSeconds = 5

export type TerminateDeps = Settle & { db: Db; link: Pick<AgentLink, 'call'> }

/**
 * Stops a run in any state. The row is set to cancelled first, then the agent is notified. The returned
 * status names the state in which the run was stopped.
 */
export function createTerminate({ db, link, settle }: TerminateDeps) {
  return async function terminate(
    executionId: string,
    by: SignedIn,
    error = `Cancelled by ${nameOf(by)}.`,
  ): Promise<Terminated> {
    const ended = await db.atomically(async (tx) => {
      // Reads again when the row changed between read and update; state changes only lead towards the end.
      for (let attempt = 0; attempt < 4; attempt += 1) {
        const row = await executionStore(tx).byId(executionId)
        if (!row || isFinal(row.status)) return null
        const from = {
          statuses: [row.status],
          ...(row.claim_token === null ? {} : { claimToken: row.claim_token }),
        }
        const isSettled = await settle(tx, row, from, {
          status: 'cancelled',
          error,
          error_code: 'user_cancelled',
          terminal_reason: 'cancelled',
        })
        if (isSettled) return row
      }
      return null
    })
    if (!ended) return { status: 'already_finished', execution_id: executionId }
    if (ended.status !== 'running') return { status: 'cancelled_while_queued', execution_id: executionId }
    // Without a claim the platform carries the run, and its hook has ended it.
    if (ended.claim_token === null) return { status: 'terminated', execution_id: executionId }
    return { execution_id: executionId, ...(await cancelOnAgent(link, ended)) }
  }
}

/** Stops a claimed run on its agent. Its row has ended before. */
export async function cancelOnAgent(
  link: Pick<AgentLink, 'call'>,
  row: ExecutionRow,
): Promise<Omit<Terminated, 'execution_id'>> {
  try {
    const { state, returncode } = await link.call(row.agent_id, 'cancel', {
      execution_id: row.id,
      claim_token: row.claim_token ?? 0,
      grace_seconds: cancelGraceSeconds,
    })
    const isParked = state === 'parked' || (state === 'unknown' && row.spawned_at === null)
    return isParked
      ? { status: 'cancelled_while_parked' }
      : { status: 'terminated', returncode: returncode ?? null }
  } catch (error) {
    // The agent drops the run when it reconnects, because the row is already cancelled.
    if (error instanceof LinkDown || error instanceof LinkTimeout || error instanceof LinkFault) {
      return { status: 'terminated', delivered: false }
    }
    throw error
  }
}

/** The user who ended a run, as named in its error. */
export function nameOf(caller: SignedIn): string {
  const person = caller.user.email ?? caller.user.username
  return caller.kind === 'key' ? `${person} (key "${caller.key.name}")` : person
}
