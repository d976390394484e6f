import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { Loop } from '../../background/loops.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Alerts } from '../alerts/index.ts'
import type { SettingKey } from './definitions.ts'
import type { Retention } from './retention.ts'

export type SweepDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'info'>
  settings: { value(key: SettingKey): unknown; retention: Pick<Retention, 'admit'> }
  alerts: Pick<Alerts, 'raise'>
}

/** Rows that are removed after their retention window. Times are ISO 8601 UTC. */
export type Swept = {
  /** Name of the loop: `events-retention`. */
  name: string
  /** Noun for texts such as “a sweep of …”. */
  what: string
  /** Setting of the window in days; 0 means forever. */
  key: SettingKey
  countBefore(before: string): Promise<number>
  countAll(): Promise<number>
  /** Removes at most `limit` rows and returns their number; 0 when none are left. */
  removeBefore(before: string, limit: number): Promise<number>
}

const daySeconds = 24 * 3600
/** Rows per delete. Deletes are short, because they block all other writers on SQLite. */
const batchSize = 500

/**
 * Removes rows after their retention window, once an hour. An unusually large sweep raises one alert and waits until an
 * admin acknowledges it.
 */
export function createSweep(deps: SweepDeps, swept: Swept): Loop {
  const { db, clock, log, settings } = deps
  const { name, what, key } = swept

  async function isAdmitted(before: string, days: number): Promise<boolean> {
    const rows = await swept.countBefore(before)
    const total = rows === 0 ? 0 : await swept.countAll()
    const { isAdmitted, isNew } = await settings.retention.admit(key, { rows, total })
    if (isNew) await db.atomically((tx) => deps.alerts.raise(tx, heldAlert(what, { key, rows, days })))
    return isAdmitted && rows > 0
  }

  return {
    name,
    everySeconds: 3600,
    async run(signal) {
      const days = Number(settings.value(key))
      if (days === 0) return
      const before = timestamp(secondsLater(clock.now(), -days * daySeconds))
      if (!(await isAdmitted(before, days))) return
      let removed = 0
      for (let more = true; more && !signal.aborted; ) {
        const count = await swept.removeBefore(before, batchSize)
        removed += count
        more = count > 0
        // SQLite works in this thread: requests are served between two batches.
        await nextTurn()
      }
      if (removed > 0) log.info({ removed, days }, `${what}: rows beyond their retention window were removed`)
    },
  }
}

function heldAlert(what: string, context: { key: SettingKey; rows: number; days: number }): PlatformAlert {
  return {
    agentId: null,
    kind: 'retention_held',
    title: `A sweep of ${what} would delete unusually many rows and waits`,
    question: 'Check the retention window. Acknowledge the sweep if it is intended.',
    priority: 'medium',
    context,
  }
}
