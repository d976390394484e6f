import type { Preference } from '@roost/contracts/identity/preferences'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { PreferenceRow } from './store.ts'
import { preferenceStore } from './store.ts'

export type Preferences = {
  list(userId: string): Promise<Preference[]>
  /** Throws `not_found`. */
  get(userId: string, key: string): Promise<Preference>
  /**
   * `base`: the `updated_at` of the value that was changed; null overwrites any value. Throws `stale_value`
   * with the current value.
   */
  put(
    userId: string,
    key: string,
    change: { value: Preference['value']; base: string | null },
  ): Promise<Preference>
  /** Throws `not_found`. */
  remove(userId: string, key: string): Promise<void>
}

/** Limits the retries when other requests write the same key of the same person. */
const maxAttempts = 20

export function createPreferences({ db, clock }: { db: Db; clock: Pick<Clock, 'now'> }): Preferences {
  const store = preferenceStore(db)
  return {
    list: async (userId) => (await store.list(userId)).map(view),

    async get(userId, key) {
      const row = await store.byKey(userId, key)
      if (!row) throw notFound()
      return view(row)
    },

    async put(userId, key, { value, base }) {
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const stored = await store.byKey(userId, key)
        if (base !== null && stored?.updated_at !== base)
          throw new Fault('stale_value', undefined, { current: stored ? view(stored) : null })
        const row = {
          user_id: userId,
          key,
          value: JSON.stringify(value),
          updated_at: timeAfter(stored, clock.now()),
        }
        const isWritten = stored ? await store.replace(row, stored.updated_at) : await store.insert(row)
        if (isWritten) return view(row)
      }
      throw new Fault('conflict', 'Other requests are writing this preference. Try again.')
    },

    async remove(userId, key) {
      if (!(await store.remove(userId, key))) throw notFound()
    },
  }
}

/** Returns a time later than that of the stored value, so that each value has a unique time. */
function timeAfter(stored: PreferenceRow | null, now: Date): string {
  const after = stored ? new Date(stored.updated_at).getTime() + 1 : 0
  return timestamp(new Date(Math.max(now.getTime(), after)))
}

function view({ key, value, updated_at }: PreferenceRow): Preference {
  return { key, value: JSON.parse(value), updated_at }
}

function notFound(): Fault {
  return new Fault('not_found', 'There is no such preference.')
}
