import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Alerts } from './alerts.ts'
import { operatorQueueStore } from './store.ts'

/** How long resolved items are kept, and whether a sweep may delete so much. */
export type RetentionPort = {
  /** 0: for ever. */
  days(): number
  admit(found: { rows: number; total: number }): Promise<{ isAdmitted: boolean; isNew: boolean }>
}

const daySeconds = 24 * 3600

/** Removes resolved items that are older than their window; what is pending stays, however old. */
export function createSweep(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'info'>
  alerts: Pick<Alerts, 'raiseAlert'>
  retention: RetentionPort
}) {
  const { db, clock, log, alerts, retention } = deps
  return async function sweep(): Promise<void> {
    const days = retention.days()
    if (days === 0) return
    const before = timestamp(secondsLater(clock.now(), -days * daySeconds))
    const store = operatorQueueStore(db)
    const rows = await store.countResolved(before)
    if (rows === 0) return
    const { isAdmitted, isNew } = await retention.admit({ rows, total: await store.countAll() })
    if (isAdmitted) {
      const removed = await store.removeResolved(before)
      log.info({ removed, days }, 'old items of the operator queue were removed')
    } else if (isNew) {
      await db.atomically((tx) =>
        alerts.raiseAlert(tx, {
          agentId: null,
          kind: 'retention_held',
          title: 'A sweep of the operator queue would delete unusually much and waits',
          question: 'Look at the retention window, and acknowledge the sweep if it is meant so.',
          priority: 'medium',
          context: { key: 'operator_queue_retention_days', rows, days },
        }),
      )
    }
  }
}
