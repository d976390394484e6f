import type { Preference } from '@roost/contracts/identity/preferences'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { preferenceStore } from './store.ts'
import type { PreferenceRow } from './tables.ts'

export type Preferences = {
  list(userId: string): Promise<Preference[]>
  /** Throws `not_found`. */
  get(userId: string, key: string): Promise<Preference>
  /**
   * `base`: the `updated_at` that the change was made from; null overwrites whatever is there. Throws
   * `stale_value` with the present value.
   */
  put(
    userId: string,
    key: string,
    wanted: { value: Preference['value']; base: string | null },
  ): Promise<Preference>
  /** Throws `not_found`. */
  remove(userId: string, key: string): Promise<void>
}

/** Writers at once of one key of one person; each of them moves on when another was first. */
const attempts = 20

export function createPreferences({ db, clock }: { db: Db; clock: Pick<Clock, 'now'> }): Preferences {
  const store = preferenceStore(db)
  return {
    list: async (userId) => (await store.list(userId)).map(view),

    async get(userId, key) {
      const row = await store.byKey(userId, key)
      if (!row) throw unknown()
      return view(row)
    },

    async put(userId, key, { value, base }) {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const found = await store.byKey(userId, key)
        if (base !== null && found?.updated_at !== base)
          throw new Fault('stale_value', undefined, { current: found ? view(found) : null })
        const row = {
          user_id: userId,
          key,
          value: JSON.stringify(value),
          updated_at: timeAfter(found, clock.now()),
        }
        const isWritten = found ? await store.replace(row, found.updated_at) : await store.insert(row)
        if (isWritten) return view(row)
      }
      throw new Fault('conflict', 'This preference is being written by others: try again.')
    },

    async remove(userId, key) {
      if (!(await store.remove(userId, key))) throw unknown()
    },
  }
}

/** Each value of a key has a time of its own, so that a time names one value. */
function timeAfter(found: PreferenceRow | null, now: Date): string {
  const after = found ? new Date(found.updated_at).getTime() + 1 : 0
  return timestamp(new Date(Math.max(now.getTime(), after)))
}

function view({ key, value, updated_at }: PreferenceRow): Preference {
  return { key, value: JSON.parse(value), updated_at }
}

function unknown(): Fault {
  return new Fault('not_found', 'There is no such preference.')
}
