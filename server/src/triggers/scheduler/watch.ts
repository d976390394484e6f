import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type RunProgress, scheduleRunStore } from '../fires/index.ts'
import type { Platform } from './platform.ts'

/** Every so often the records of runs are looked at. */
export const lookSeconds = 10
/** After the time of a run its end may take so long to be written down. */
const lateSeconds = 60
/** Of one query: far below what either database takes as parameters. */
const batch = 10_000

/**
 * Follows the runs that were made until their records are final, and then sees to it that those which want it
 * are validated.
 */
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
    // The platform does so by itself, and comes back to it when it is down now.
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

    async look(signal: AbortSignal): Promise<void> {
      const ids = [...watched]
      for (let from = 0; from < ids.length && !signal.aborted; from += batch) {
        const asked = ids.slice(from, from + batch)
        const runs = new Map((await scheduleRunStore(db).progress(asked)).map((run) => [run.id, run]))
        for (const id of asked) {
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
