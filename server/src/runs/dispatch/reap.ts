import type { RunContexts } from '../../agents/run-context/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Ending, type ExecutionRow, overdueStore, queueStore, type Settle } from '../executions/index.ts'
import type { Live } from '../transcripts/index.ts'
import { lostEnding } from './hold.ts'
import { judgeExpired, passesBeforeVerdict, queueExpiryHours } from './rules.ts'

export type ReapDeps = Settle & {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Log
  link: Pick<AgentLink, 'isConnected' | 'wake'>
  live: Pick<Live, 'changed'>
  runContexts: RunContexts
}

/** Runs read per batch. */
const rowsPerRead = 200

/** Finds what nobody reports: runs of silent agents, expired queue entries, lost wakes. */
export function createReap(deps: ReapDeps) {
  const { db, clock, log, link, live, runContexts, settle } = deps
  /** Number of consecutive passes that found each expired lease. */
  let expiredPasses = new Map<string, number>()

  async function judge(row: ExecutionRow): Promise<void> {
    const agent = await runContexts.find(row.agent_id)
    const verdict = judgeExpired({
      isSpawned: row.spawned_at !== null,
      isLinked: link.isConnected(row.agent_id),
      isContainerRunning: agent?.status === 'running',
      startedAt: new Date(row.started_at ?? row.created_at),
      timeoutSeconds: row.timeout_seconds,
      now: clock.now(),
    })
    if (verdict === 'leave') return
    log.info({ execution_id: row.id, agent: row.agent_name, verdict }, 'the lease of a run has expired')
    if (verdict === 'requeue') return requeue(row)
    if (verdict === 'forgotten') return end(row, forgottenEnding)
    await end(row, verdict === 'overdue' || agent?.status === 'running' ? leaseEnding : lostEnding)
  }

  async function requeue(row: ExecutionRow): Promise<void> {
    const stillExpired = await db.atomically(async (tx) => {
      const isExpired = await overdueStore(tx).stillExpired(row)
      return isExpired && (await queueStore(tx).requeue(row.id, row.claim_token ?? 0, row.restarts))
    })
    if (!stillExpired) return
    live.changed(row.id)
    link.wake(row.agent_id)
  }

  async function end(row: ExecutionRow, ending: Ending): Promise<void> {
    await db.atomically(async (tx) => {
      // A heartbeat may have arrived meanwhile.
      if (!(await overdueStore(tx).stillExpired(row))) return
      await settle(tx, row, { statuses: ['running'], claimToken: row.claim_token ?? 0 }, ending)
    })
  }

  return {
    /** Ends or requeues runs whose lease stays expired. */
    async leases(signal: AbortSignal): Promise<void> {
      const now = timestamp(clock.now())
      const passesNow = new Map<string, number>()
      let after: ExecutionRow | null = null
      do {
        const rows: ExecutionRow[] = await overdueStore(db).leaseExpired(now, rowsPerRead, after)
        for (const row of rows) {
          if (signal.aborted) return
          const lease = `${row.id} ${row.lease_expires_at}`
          const passes = (expiredPasses.get(lease) ?? 0) + 1
          passesNow.set(lease, passes)
          if (passes >= passesBeforeVerdict) await judge(row)
        }
        after = rows.length < rowsPerRead ? null : (rows.at(-1) ?? null)
      } while (after)
      expiredPasses = passesNow
    },

    /** Fails runs that never got a slot. */
    async expire(signal: AbortSignal): Promise<void> {
      const cutoff = new Date(clock.now().getTime() - queueExpiryHours * 3_600_000)
      for (const row of await overdueStore(db).queuedBefore(timestamp(cutoff), rowsPerRead)) {
        if (signal.aborted) return
        await db.atomically((tx) => settle(tx, row, { statuses: ['queued'] }, expiredEnding))
      }
    },

    /** Wakes every agent with queued runs, because a wake may have been lost. */
    async nudge(signal: AbortSignal): Promise<void> {
      for (const agentId of await overdueStore(db).agentsWithWaiting()) {
        if (signal.aborted) return
        link.wake(agentId)
      }
    },
  }
}

const leaseEnding = {
  status: 'failed',
  error: 'The agent stopped reporting on this run.',
  error_code: 'lease_expired',
  terminal_reason: 'crashed',
} as const

const forgottenEnding = {
  status: 'failed',
  error: `The agent claimed the run and was offline for ${queueExpiryHours} hours; whether the run started is unknown.`,
  error_code: 'agent_lost',
  terminal_reason: 'crashed',
} as const

const expiredEnding = {
  status: 'failed',
  error: `The run waited more than ${queueExpiryHours} hours for a slot.`,
  error_code: 'queue_expired',
} as const
