import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Loop } from '../../background/loops.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import { timestamp } from '../../kit/clock.ts'
import type { Tx } from '../../ports/database/port.ts'
import { type EndedRun, type RunHooks, runRetentionStore } from '../executions/index.ts'
import { fanOutStore } from '../fan-out/index.ts'
import { loopStore } from '../loops/index.ts'
import { countWithin, transcriptStore } from '../transcripts/index.ts'

export type RunRetentionDeps = SweepDeps & {
  hooks: Pick<RunHooks, 'registered'>
  events: Pick<Outbox, 'trimBefore'>
}

/** Runs read per query. */
const pageRuns = 200
/** Runs deleted per transaction: each has entries in ten indexes. */
const maxRuns = 100
/** Bytes freed per transaction: SQLite reads the pages that it frees, in the thread that serves requests. */
const maxBytes = 4 * 1024 * 1024

/** Removes the transcripts of ended runs: their lines and tool calls. The rows of the runs stay. */
export function logRetention(deps: SweepDeps): Loop {
  const { db } = deps
  return createSweep(deps, {
    name: 'runs.log-retention',
    what: 'transcripts',
    key: 'execution_log_retention_days',
    async countBefore(before) {
      let lines = 0
      let after: EndedRun | null = null
      do {
        const page: EndedRun[] = await runRetentionStore(db).withLog(before, after, pageRuns)
        if (page.length > 0) lines += await transcriptStore(db).countLines(page.map(({ id }) => id))
        after = page.length === pageRuns ? (page.at(-1) ?? null) : null
        await nextTurn()
      } while (after !== null)
      return lines
    },
    countAll: () => transcriptStore(db).countLines(),
    removeBefore: (before, limit) =>
      db.atomically(async (tx) => {
        const runs = await runRetentionStore(tx).withLog(before, null, pageRuns)
        return removeLogs(tx, runs, limit, timestamp(deps.clock.now()))
      }),
  })
}

/** Deletes ended runs with everything that belongs only to them, and the loops and fan-outs that they belong to. */
export function runRetention(deps: RunRetentionDeps): Loop {
  const { db, hooks, clock } = deps
  const runs = runRetentionStore(db)
  const [loops, fanOuts] = [loopStore(db), fanOutStore(db)]
  /** Read once per sweep: the attempts of an open retry. */
  let referenced: readonly string[] = []

  async function removeRuns(tx: Tx, before: string, limit: number): Promise<number> {
    const found = await runRetentionStore(tx).deletable(before, referenced, Math.min(limit, maxRuns))
    const ids = found.slice(0, countWithin(found, { maxRows: maxRuns, maxBytes })).map(({ id }) => id)
    if (ids.length === 0) return 0
    for (const hook of hooks.registered.removing) await hook(tx, ids)
    await transcriptStore(tx).remove(ids)
    return runRetentionStore(tx).remove(ids, before)
  }

  return createSweep(deps, {
    name: 'runs.retention',
    what: 'finished runs',
    key: 'execution_row_retention_days',
    async countBefore(before) {
      referenced = await runs.referenced(before)
      const counts = [runs.countEnded(before), loops.countEnded(before), fanOuts.countEnded(before)]
      return sum(await Promise.all(counts))
    },
    countAll: async () => sum(await Promise.all([runs.countAll(), loops.countAll(), fanOuts.countAll()])),
    async removeBefore(before, limit) {
      // A loop or fan-out goes before its runs: with only some of them it would show wrong figures.
      const parents = (await loops.removeEnded(before, limit)) || (await fanOuts.removeEnded(before, limit))
      if (parents > 0) return parents
      const lines = await db.atomically(async (tx) => {
        const found = await runRetentionStore(tx).deletableWithLog(before, referenced, pageRuns)
        return removeLogs(tx, found, limit, timestamp(clock.now()))
      })
      if (lines > 0) return lines
      // They quote the message of their run, and an event without its run would break an invariant.
      await deps.events.trimBefore(before)
      return db.atomically((tx) => removeRuns(tx, before, limit))
    },
  })
}

/** Removes lines of these runs, oldest run first; returns the number of changed rows. */
async function removeLogs(
  tx: Tx,
  runs: readonly Pick<EndedRun, 'id'>[],
  limit: number,
  now: string,
): Promise<number> {
  if (runs.length === 0) return 0
  const ids = runs.map(({ id }) => id)
  const { removed, emptied } = await transcriptStore(tx).removeLines(ids, { maxLines: limit, maxBytes })
  await runRetentionStore(tx).markLogRemoved(emptied, now)
  return removed + emptied.length
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
