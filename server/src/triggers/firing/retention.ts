import type { Loop } from '../../background/loops.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { fireStore } from '../fires/index.ts'

const day = 24 * 3600
/** A schedule that fires every minute leaves 1,440 records a day. */
const retentionDays = 30
/** Longer than any schedule pauses, except around 29 February of a century year. */
const newestRetentionDays = 5 * 366

/** Removes old records of fires. Runs in the scheduler process. */
export function fireRetention(deps: { db: Db; clock: Pick<Clock, 'now'>; log: Pick<Log, 'info'> }): Loop {
  const ago = (days: number) => timestamp(secondsLater(deps.clock.now(), -days * day))
  return {
    name: 'fire-retention',
    everySeconds: 3600,
    async run() {
      const removed = await fireStore(deps.db).sweep(ago(retentionDays), ago(newestRetentionDays))
      if (removed > 0) deps.log.info({ removed, days: retentionDays }, 'old records of fires were removed')
    },
  }
}
