import type { Loop } from '../../background/loops.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { scheduleStore } from './store.ts'

const day = 24 * 3600

/** When a schedule that was deleted at `deletedAt` is purged. */
export function purgeAt(deletedAt: string, days: number): string {
  return timestamp(secondsLater(new Date(deletedAt), days * day))
}

/** Purges schedules deleted more than `retentionDays` ago. Runs in the scheduler process. */
export function scheduleRetention(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'info'>
  retentionDays(): number
}): Loop {
  return {
    name: 'schedule-retention',
    everySeconds: 3600,
    async run() {
      const days = deps.retentionDays()
      const before = timestamp(secondsLater(deps.clock.now(), -days * day))
      const purged = await scheduleStore(deps.db).purge(before)
      if (purged > 0) deps.log.info({ purged, days }, 'schedules past their retention were purged')
    },
  }
}
