import type { RetentionWindow } from '@roost/contracts/foundation/platform-settings'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { definitions, retentionKeys, type SettingKey } from './definitions.ts'
import { settingStore } from './store.ts'
import type { Values } from './values.ts'

/** How long things are kept, and which sweeps wait for somebody to say that they may delete so much. */
export type Retention = {
  windows(): Promise<RetentionWindow[]>
  /** Throws `setting_not_found`, `window_changed`. Answers how many rows the sweep had found; 0: none was held. */
  acknowledge(key: string, windowDays: number): Promise<number>
  /**
   * Whether a sweep that found so much may go on. Unusually much is held until it is acknowledged for the
   * window as it is now; `isNew` tells the first time, at which an alert is due.
   */
  admit(
    key: SettingKey,
    found: { rows: number; total: number },
  ): Promise<{ isAdmitted: boolean; isNew: boolean }>
}

/** More than both, and a sweep waits: a window that was mistyped must not empty a table. */
const unusual = { rows: 1_000, share: 0.2 }

export function createRetention(deps: { db: Db; clock: Pick<Clock, 'now'>; values: Values }): Retention {
  const { db, clock, values } = deps
  const daysOf = (key: SettingKey): number => Number(values.value(key))

  return {
    async windows() {
      const holds = new Map((await settingStore(db).holds()).map((hold) => [hold.key, hold]))
      return retentionKeys.map((key) => {
        const hold = holds.get(key)
        const isHeld = hold?.window_days === daysOf(key) && hold.acknowledged_at === null
        return {
          key,
          days: daysOf(key),
          default: Number(definitions[key].default),
          held: isHeld
            ? { rows: hold.rows, share: hold.share_ppm / 1_000_000, computed_at: hold.computed_at }
            : null,
        }
      })
    },

    async acknowledge(key, windowDays) {
      const known = retentionKeys.find((each) => each === key)
      if (!known) throw new Fault('setting_not_found')
      if (daysOf(known) !== windowDays) throw new Fault('window_changed')
      return settingStore(db).acknowledgeHold(known, windowDays, timestamp(clock.now()))
    },

    async admit(key, { rows, total }) {
      const share = total === 0 ? 0 : rows / total
      if (rows <= unusual.rows || share <= unusual.share) return { isAdmitted: true, isNew: false }
      const window_days = daysOf(key)
      return db.atomically(async (tx) => {
        const store = settingStore(tx)
        const before = (await store.holds()).find((hold) => hold.key === key)
        const isSame = before?.window_days === window_days
        if (isSame && before.acknowledged_at !== null) {
          await store.removeHold(key)
          return { isAdmitted: true, isNew: false }
        }
        const computed_at = timestamp(clock.now())
        const share_ppm = Math.round(share * 1_000_000)
        await store.putHold({ key, window_days, rows, share_ppm, computed_at, acknowledged_at: null })
        return { isAdmitted: false, isNew: !isSame }
      })
    },
  }
}
