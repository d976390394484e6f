import {
  type HeldRun,
  type Hello,
  type HelloAnswer,
  leaseSeconds,
  protocolVersion,
} from '@roost/contracts/link/messages'
import type { Started, StartedAnswer } from '@roost/contracts/link/runs'
import type { RunContexts } from '../../agents/run-context/index.ts'
import { createBatches } from '../../kit/batches.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type ExecutionRow, executionStore, type Hold, queueStore, type Settle } from '../executions/index.ts'
import type { Live } from '../transcripts/index.ts'
import { lastReceived, leaseFrom } from './lines.ts'

export type HoldDeps = Settle & {
  db: Db
  clock: Pick<Clock, 'now'>
  live: Pick<Live, 'changed'>
  runContexts: RunContexts
}

/** Compares the runs that an agent holds with those that the platform expects it to hold. */
export function createHold({ db, clock, live, runContexts, settle }: HoldDeps) {
  const spawned = createSpawned({ db, clock })

  return {
    /**
     * Handles a connecting agent. Held runs with a valid claim continue after their last stored line. Runs
     * that have ended still report a finished result; other held runs are dropped. Expected runs that the
     * agent does not hold return to the queue if they were never spawned; otherwise they are lost.
     */
    async hello(agentId: string, message: Omit<Hello, 't'>): Promise<HelloAnswer> {
      if (message.protocol !== protocolVersion) {
        const text = `The platform speaks protocol ${protocolVersion}, this agent ${message.protocol}.`
        throw new LinkFault({ code: 'invalid_message', message: text })
      }
      const settings = await runContexts.settings(agentId)
      if (!settings) throw new LinkFault({ code: 'invalid_message', message: 'There is no such agent.' })
      const { acked, drop } = await db.atomically((tx) => reconcile(tx, agentId, message.held))
      return { settings, acked, drop, lease_seconds: leaseSeconds }
    },

    /** Marks the runtime as spawned: from now on the run is not queued again. */
    async started(agentId: string, message: Omit<Started, 't'>): Promise<StartedAnswer> {
      const hold = { id: message.execution_id, agentId, claimToken: message.claim_token }
      const isHeld = await spawned(hold)
      if (isHeld) live.changed(message.execution_id)
      return isHeld ? { ok: true } : { stale: true }
    },

    /** Renews the leases of the runs in a heartbeat. */
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
    const isLate = await lateResults(tx, agentId, held)
    for (const run of held) {
      const row = running.get(run.execution_id)
      if (!row || row.claim_token !== run.claim_token) {
        if (isLate(run)) acked[run.execution_id] = run.last_line
        else drop.push(run.execution_id)
        continue
      }
      running.delete(row.id)
      acked[row.id] = lastReceived(row)
      const hold = { id: row.id, agentId, claimToken: run.claim_token }
      // The message that it was spawned may have been lost with the link.
      if (run.state !== 'accepted') await queue.markSpawned([hold], timestamp(now), leaseFrom(now))
      else await queue.renewLeases(agentId, [row.id], leaseFrom(now))
    }
    for (const row of running.values()) await takeBack(tx, row)
    return { acked, drop }
  }

  /** Which of these are finished results of runs that have ended: accepted for the note, without effect. */
  async function lateResults(
    tx: Tx,
    agentId: string,
    held: readonly HeldRun[],
  ): Promise<(run: HeldRun) => boolean> {
    const finished = held.filter(({ state }) => state === 'finished').map((run) => run.execution_id)
    const tokens = await executionStore(tx).endedClaims(agentId, finished)
    return ({ state, execution_id, claim_token }) =>
      state === 'finished' && tokens.get(execution_id) === claim_token
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

/** The agent returned without the run, or did not return. */
export const lostEnding = {
  status: 'failed',
  error: 'The agent ended or was restarted while it worked on this run.',
  error_code: 'agent_lost',
  terminal_reason: 'crashed',
} as const

const maxPerStatement = 16

/**
 * Records that runtimes were spawned; false when the claim is void. Reports that arrive while a statement runs
 * share the next one, because a commit costs more than the statement. A statement has one run of each agent:
 * others lock several rows of one agent only, so two such statements never wait for each other.
 */
export function createSpawned({ db, clock }: { db: Db; clock: Pick<Clock, 'now'> }) {
  return createBatches<Hold, boolean>({
    maxItems: maxPerStatement,
    keyOf: ({ agentId }) => agentId,
    maxPerKey: 1,
    async run(entries) {
      const now = clock.now()
      const holds = entries.map(({ item }) => item)
      const marked = await queueStore(db).markSpawned(holds, timestamp(now), leaseFrom(now))
      for (const { item, resolve } of entries) resolve(marked.has(item.id))
    },
  })
}
