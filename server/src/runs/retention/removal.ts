import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { executionStore, type RunHooks, runRetentionStore } from '../executions/index.ts'
import { transcriptStore } from '../transcripts/index.ts'

export type RunRemovalDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  hooks: Pick<RunHooks, 'registered'>
  events: Pick<Outbox, 'trimBefore'>
}

/** Runs deleted per transaction. */
const pageRuns = 100

/**
 * Deletes the ended runs of these agents with everything that belongs only to them. For agents that were deleted: they
 * have no open runs.
 */
export function createRunRemoval({ db, clock, hooks, events }: RunRemovalDeps) {
  return async (agentIds: readonly string[]): Promise<void> => {
    // After the newest end, which may be in this millisecond.
    const before = timestamp(new Date(clock.now().getTime() + 1))
    // All events go, as in retention: an event without its run would break an invariant.
    await events.trimBefore(before)
    for (const agentId of agentIds) {
      let removed = 0
      do {
        removed = await db.atomically(async (tx) => {
          const page = { limit: pageRuns, offset: 0 }
          const ids = (await executionStore(tx).list({ agentId }, page)).map(({ id }) => id)
          if (ids.length === 0) return 0
          for (const hook of hooks.registered.removing) await hook(tx, ids)
          await transcriptStore(tx).remove(ids)
          return runRetentionStore(tx).remove(ids, before)
        })
      } while (removed > 0)
    }
  }
}
