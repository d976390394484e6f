import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { Loop } from '../../background/loops.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { SettingKey } from './definitions.ts'
import type { Retention } from './retention.ts'

export type SweepDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'info'>
  settings: { value(key: SettingKey): unknown; retention: Pick<Retention, 'admit'> }
  /** For the operator's queue. */
  raiseAlert(tx: Tx, alert: PlatformAlert): Promise<void>
}

/** What is removed once it is older than its window; times ISO 8601 UTC. */
export type Swept = {
  /** Of the loop: `events-retention`. */
  name: string
  /** In words, as in “a sweep of …”. */
  what: string
  /** Its window in days; 0 keeps all. */
  key: SettingKey
  countBefore(before: string): Promise<number>
  countAll(): Promise<number>
  /** Removes at most `limit` of them and answers how many. */
  removeBefore(before: string, limit: number): Promise<number>
}

const daySeconds = 24 * 3600
/** A delete holds up all other writers on SQLite, so it is short, and the next one waits in line. */
const removedTogether = 500

/**
 * Once an hour removes what is older than its window. A sweep that found unusually much waits until somebody says that
 * it is meant so; operators are told once.
 */
export function createSweep(deps: SweepDeps, swept: Swept): Loop {
  const { db, clock, log, settings } = deps
  const { name, what, key } = swept

  async function isAdmitted(before: string, days: number): Promise<boolean> {
    const rows = await swept.countBefore(before)
    if (rows === 0) return false
    const { isAdmitted, isNew } = await settings.retention.admit(key, { rows, total: await swept.countAll() })
    if (isNew) await db.atomically((tx) => deps.raiseAlert(tx, heldAlert(what, { key, rows, days })))
    return isAdmitted
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
        const gone = await swept.removeBefore(before, removedTogether)
        removed += gone
        more = gone === removedTogether
      }
      log.info({ removed, days }, `${what} beyond their window were removed`)
    },
  }
}

function heldAlert(what: string, context: { key: SettingKey; rows: number; days: number }): PlatformAlert {
  return {
    agentId: null,
    kind: 'retention_held',
    title: `A sweep of ${what} would delete unusually much and waits`,
    question: 'Look at the retention window, and acknowledge the sweep if it is meant so.',
    priority: 'medium',
    context,
  }
}
