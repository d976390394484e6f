import {
  type HeldRun,
  type Hello,
  type HelloAnswer,
  leaseSeconds,
  protocolVersion,
} from '@roost/contracts/link/messages'
import type { Started, StartedAnswer } from '@roost/contracts/link/runs'
import type { RunContexts } from '../../agents/run-context/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type ExecutionRow, executionStore, isFinal, queueStore, type Settle } from '../executions/index.ts'
import type { Live } from '../transcripts/index.ts'
import { leaseFrom } from './lines.ts'
import { createSpawned } from './spawned.ts'

export type HoldDeps = Settle & {
  db: Db
  clock: Pick<Clock, 'now'>
  live: Pick<Live, 'changed'>
  facts: RunContexts
}

/** What an agent holds and what the platform believes it holds, brought together. */
export function createHold({ db, clock, live, facts, settle }: HoldDeps) {
  const spawned = createSpawned({ db, clock })

  return {
    /**
     * An agent dialled in. Of the runs it holds, those under a present claim go on from the last stored
     * line, of those that have ended meanwhile a finished result is still heard, and the others are dropped.
     * Of the runs that it should hold and does not, those that were never spawned go back to their place in
     * the queue; the others were lost with it.
     */
    async hello(agentId: string, message: Omit<Hello, 't'>): Promise<HelloAnswer> {
      if (message.protocol !== protocolVersion) {
        const text = `The platform speaks protocol ${protocolVersion}, this agent ${message.protocol}.`
        throw new LinkFault({ code: 'invalid_message', message: text })
      }
      const settings = await facts.settings(agentId)
      if (!settings) throw new LinkFault({ code: 'invalid_message', message: 'There is no such agent.' })
      const { acked, drop } = await db.atomically((tx) => reconcile(tx, agentId, message.held))
      return { settings, acked, drop, lease_seconds: leaseSeconds }
    },

    /** The runtime was spawned: from here on the run is not handed out again. */
    async started(agentId: string, message: Omit<Started, 't'>): Promise<StartedAnswer> {
      const hold = { id: message.execution_id, agentId, claimToken: message.claim_token }
      const isHeld = await spawned(hold)
      if (isHeld) live.changed(message.execution_id)
      return isHeld ? { ok: true } : { stale: true }
    },

    /** Renews the leases of the runs that a beat names. */
    async beat(agentId: string, executionIds: readonly string[]): Promise<void> {
      await queueStore(db).renewLeases(agentId, executionIds, leaseFrom(clock.now()))
    },
  }

  async function reconcile(
    tx: Tx,
    agentId: string,
    held: readonly HeldRun[],
  ): Promise<Pick<HelloAnswer, 'acked' | 'drop'>> {
    const now = clock.now()
    const queue = queueStore(tx)
    await queue.lockQueue(agentId)
    const running = new Map((await queue.runningOf(agentId)).map((row) => [row.id, row]))
    const acked: Record<string, number> = {}
    const drop: string[] = []
    for (const run of held) {
      const row = running.get(run.execution_id)
      if (!row || row.claim_token !== run.claim_token) {
        if (await isLateResult(tx, agentId, run)) acked[run.execution_id] = run.last_line
        else drop.push(run.execution_id)
        continue
      }
      running.delete(row.id)
      acked[row.id] = row.last_line - row.line_offset
      const hold = { id: row.id, agentId, claimToken: run.claim_token }
      // The word that it was spawned may have been lost with the link.
      if (run.state !== 'accepted') await queue.markSpawned([hold], timestamp(now), leaseFrom(now))
      else await queue.renewLeases(agentId, [row.id], leaseFrom(now))
    }
    for (const row of running.values()) await takeBack(tx, row)
    return { acked, drop }
  }

  /** The result of a run that has ended meanwhile: it does not count any more, and is heard for the note. */
  async function isLateResult(tx: Tx, agentId: string, run: HeldRun): Promise<boolean> {
    if (run.state !== 'finished') return false
    const row = await executionStore(tx).byId(run.execution_id)
    return row?.agent_id === agentId && isFinal(row.status) && row.claim_token === run.claim_token
  }

  async function takeBack(tx: Tx, row: ExecutionRow): Promise<void> {
    const claimToken = row.claim_token ?? 0
    if (row.spawned_at === null) {
      await queueStore(tx).requeue(row.id, claimToken, row.restarts)
      return tx.onCommitted(() => live.changed(row.id))
    }
    await settle(tx, row, { statuses: ['running'], claimToken }, lostEnding)
  }
}

/** The agent came back without the run, or did not come back at all. */
export const lostEnding = {
  status: 'failed',
  error: 'The agent ended or was restarted while it worked on this run.',
  error_code: 'agent_lost',
  terminal_reason: 'crashed',
} as const
