import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type RunProgress, scheduleRunStore } from '../fires/index.ts'
import type { Platform } from './platform.ts'

/** The interval at which the records of runs are read. */
export const watchSeconds = 10
/** Beyond the timeout of a run, for storing its end. */
const lateSeconds = 60
/** Ids per query, far below the parameter limit of both databases. */
const maxIds = 10_000

/** Follows new runs until their records are final, and then starts the requested validations. */
export function createWatch(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn' | 'debug'>
  platform: Pick<Platform, 'validate'>
}) {
  const { db, clock, log, platform } = deps
  const watched = new Set<string>()

  async function ended(run: RunProgress, signal: AbortSignal): Promise<void> {
    log.debug({ execution_id: run.id, status: run.status }, 'a fired run has ended')
    if (run.business_status !== 'pending_validation' || run.validation_execution_id !== null) return
    // The platform also does this itself, and retries after an outage.
    await platform
      .validate(run.id, signal)
      .catch((error: unknown) => log.debug({ err: error }, 'not validated yet'))
  }

  function isLate({ started_at, timeout_seconds }: RunProgress): boolean {
    if (started_at === null) return false
    return clock.now().getTime() > Date.parse(started_at) + (timeout_seconds + lateSeconds) * 1000
  }

  return {
    add: (executionId: string) => void watched.add(executionId),
    size: () => watched.size,

    async check(signal: AbortSignal): Promise<void> {
      const ids = [...watched]
      for (let from = 0; from < ids.length && !signal.aborted; from += maxIds) {
        const batch = ids.slice(from, from + maxIds)
        const runs = new Map((await scheduleRunStore(db).progress(batch)).map((run) => [run.id, run]))
        for (const id of batch) {
          const run = runs.get(id)
          const isOpen = run?.status === 'queued' || run?.status === 'running'
          if (run && isOpen && !isLate(run)) continue
          watched.delete(id)
          if (run && isOpen) log.warn({ execution_id: id }, 'a run is over its time and has no end yet')
          else if (run) await ended(run, signal)
        }
      }
    },
  }
}
