import { accountPrincipal, agentPrincipal } from '../../identity/access/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Dispatch } from '../../runs/dispatch/index.ts'
import type { RunHooks } from '../../runs/executions/index.ts'
import type { Asks } from './asks.ts'
import { readAskKey, resumeMessage } from './rules.ts'
import { type ItemRow, operatorQueueStore } from './store.ts'

export type ResumeDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  hooks: Pick<RunHooks, 'onEnded'>
  asks: Pick<Asks, 'acknowledge'>
}

/** Older answers start no run. The agent finds them when it reads its asks. */
const maxWaitSeconds = 24 * 3600
const pageSize = 50

export type Resume = {
  /** Starts the runs of all due answers whose agents take runs. */
  pass(signal: AbortSignal): Promise<void>
  /** Starts the run of this answer if it is due. */
  one(id: string): Promise<void>
}

/**
 * With operator-resume on, an answer starts one run. The transaction that changes the row from `due` to `started` also
 * enqueues the run, so a crash leaves both or neither.
 */
export function createResume(deps: ResumeDeps): Resume {
  const { db, clock, log, dispatch, hooks, asks } = deps

  hooks.onEnded(async (tx, run) => {
    if (run.triggered_by !== 'operator_response' || run.status !== 'success') return
    const row = await operatorQueueStore(tx).startedBy(run.id)
    if (row?.status === 'responded') await asks.acknowledge(tx, row)
  })

  async function start(row: ItemRow): Promise<void> {
    if (row.agent_id === null) return
    const agentId = row.agent_id
    const agent = await dispatch.checkAgent(agentId)
    await dispatch.transaction(async (tx) => {
      const store = operatorQueueStore(tx)
      if (!(await store.claimResume(row.id))) return
      const { row: run } = await dispatch.enqueue(tx, agent, {
        agentId,
        kind: 'task',
        triggeredBy: 'operator_response',
        message: resumeMessage(row),
        source: {
          principal: principalOf(row, agentId),
          userId: row.responded_by_id,
          userEmail: row.responded_by_email,
          agent: null,
          key: null,
        },
      })
      await store.noteRun(row.id, run.id)
    })
  }

  async function attempt(row: ItemRow): Promise<void> {
    try {
      await start(row)
    } catch (error) {
      if (isFault(error, 'circuit_open')) {
        // The refused run has a record and counts as the one run.
        await db.atomically((tx) => operatorQueueStore(tx).claimResume(row.id))
        return
      }
      // A stopped agent or a full queue: the next pass tries again.
      if (isFault(error)) return
      log.warn({ item_id: row.id, err: error }, 'an answer could not start its run; it is tried again')
    }
  }

  return {
    async pass(signal) {
      let after = { responded_at: timestamp(secondsLater(clock.now(), -maxWaitSeconds)), id: '' }
      for (;;) {
        // Answers for stopped agents stay due, so later pages may have some that can start.
        const page = await operatorQueueStore(db).toResume(after, pageSize)
        for (const row of page) {
          if (signal.aborted) return
          await attempt(row)
        }
        const last = page.at(-1)
        if (!last?.responded_at || page.length < pageSize) return
        after = { responded_at: last.responded_at, id: last.id }
      }
    },
    async one(id) {
      const row = await operatorQueueStore(db).byId(id)
      if (row?.resume === 'due') await attempt(row)
    },
  }
}

/**
 * A question must not run with more rights than its author has. Sharers can write the file, so its entries run for the
 * agent; asks of a run without the owner's rights run for that run's principal; all others for the person who answered.
 */
function principalOf(row: ItemRow, agentId: string): string {
  const ofAgent = agentPrincipal(agentId, null)
  if (row.source === 'file') return ofAgent
  return readAskKey(row.request_id ?? '').asker ?? answererOf(row) ?? ofAgent
}

/** The person who answered; one without an account has the rights of the share. */
function answererOf({ responded_by_id, responded_by_email }: ItemRow): string | null {
  if (responded_by_id !== null) return accountPrincipal(responded_by_id)
  return responded_by_email ? `email:${responded_by_email}` : null
}
