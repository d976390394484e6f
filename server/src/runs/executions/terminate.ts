import type { Terminated } from '@roost/contracts/runs/executions'
import type { SignedIn } from '../../identity/access/caller.ts'
import { type AgentLink, LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import { isFinal } from './rules.ts'
import type { Settle } from './settle.ts'
import { type ExecutionRow, executionStore } from './store.ts'

/** How long a runtime has between the polite signal and the kill. */
export const cancelGraceSeconds = 5

export type TerminateDeps = Settle & { db: Db; link: Pick<AgentLink, 'call'> }

/**
 * Stops a run wherever it is. The row decides: it is set cancelled first, then the agent is told. The word
 * says which race was won.
 */
export function createTerminate({ db, link, settle }: TerminateDeps) {
  return async function terminate(executionId: string, by: SignedIn): Promise<Terminated> {
    const ended = await db.atomically(async (tx) => {
      // A second look when the row moved between being read and being ended; moves only lead to the end.
      for (let look = 0; look < 4; look += 1) {
        const row = await executionStore(tx).byId(executionId)
        if (!row || isFinal(row.status)) return null
        const from = {
          statuses: [row.status],
          ...(row.claim_token === null ? {} : { claimToken: row.claim_token }),
        }
        const isMine = await settle(tx, row, from, {
          status: 'cancelled',
          error: `Cancelled by ${nameOf(by)}.`,
          error_code: 'user_cancelled',
          terminal_reason: 'cancelled',
        })
        if (isMine) return row
      }
      return null
    })
    if (!ended) return { status: 'already_finished', execution_id: executionId }
    if (ended.status !== 'running') return { status: 'cancelled_while_queued', execution_id: executionId }
    // Nobody claimed it: the platform carries it, and has heard of its end by the hook.
    if (ended.claim_token === null) return { status: 'terminated', execution_id: executionId }
    return { execution_id: executionId, ...(await tell(link, ended)) }
  }
}

async function tell(
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
    // The agent drops the run when it dials in again: the row is cancelled already.
    if (error instanceof LinkDown || error instanceof LinkTimeout || error instanceof LinkFault) {
      return { status: 'terminated', delivered: false }
    }
    throw error
  }
}

/** Who ended a run, as its error says. */
export function nameOf(caller: SignedIn): string {
  const person = caller.user.email ?? caller.user.username
  return caller.kind === 'key' ? `${person} (key "${caller.key.name}")` : person
}
