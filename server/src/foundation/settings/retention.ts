import type { RetentionWindow } from '@roost/contracts/foundation/platform-settings'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { definitions, retentionKeys, type SettingKey } from './definitions.ts'
import { settingStore } from './store.ts'
import type { Values } from './values.ts'

/** Retention windows, and the sweeps that wait for an admin because they would delete unusually many rows. */
export type Retention = {
  windows(): Promise<RetentionWindow[]>
  /** Returns the number of rows that the held sweep found; 0: none was held. Throws `setting_not_found`, `window_changed`. */
  acknowledge(key: string, windowDays: number): Promise<number>
  /**
   * Decides whether a sweep may delete the rows it found. An unusually large one waits until an admin acknowledges it
   * for the present window. `isNew` is true the first time, when an alert is due. An acknowledgement lasts until the
   * sweep finds no unusual number, so that an interrupted sweep continues.
   */
  admit(
    key: SettingKey,
    found: { rows: number; total: number },
  ): Promise<{ isAdmitted: boolean; isNew: boolean }>
}

/** A sweep above both limits waits, because a mistyped window must not empty a table. */
const holdAbove = { rows: 1_000, share: 0.2 }

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
      if (rows <= holdAbove.rows || share <= holdAbove.share) {
        await settingStore(db).removeHold(key)
        return { isAdmitted: true, isNew: false }
      }
      const window_days = daysOf(key)
      return db.atomically(async (tx) => {
        const store = settingStore(tx)
        const before = (await store.holds()).find((hold) => hold.key === key)
        const isSame = before?.window_days === window_days
        if (isSame && before.acknowledged_at !== null) return { isAdmitted: true, isNew: false }
        const computed_at = timestamp(clock.now())
        const share_ppm = Math.round(share * 1_000_000)
        await store.putHold({ key, window_days, rows, share_ppm, computed_at, acknowledged_at: null })
        return { isAdmitted: false, isNew: !isSame }
      })
    },
  }
}
