import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { createStreak } from '../../ports/log-streak.ts'
import { heartbeatSeconds } from './rules.ts'
import type { ReplicaDescription } from './service.ts'
import { replicaStore } from './store.ts'

export type Heartbeat = {
  /** Removes the replica from the list. */
  stop(): Promise<void>
}

/** Updates the row of this process. While the database is unavailable, heartbeats fail and the process continues. */
export function startHeartbeat(deps: {
  db: Db
  clock: Clock
  log: Log
  replica: ReplicaDescription
  /** Identity of the container engine; null while it is unknown. */
  engineId?: () => string | null
}): Heartbeat {
  const { db, clock, log, replica, engineId = () => null } = deps
  const store = replicaStore(db)
  const stopping = new AbortController()
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
      // If this fails, the row becomes silent, like that of a killed process.
      await store.remove(replica.id).catch(() => {})
    },
  }

  async function run(): Promise<void> {
    const streak = createStreak(log, {
      failing: 'the heartbeat of this replica could not be recorded',
      over: 'the heartbeat of this replica is recorded again',
    })
    while (!stopping.signal.aborted) {
      try {
        await store.put({ ...replica, engine_id: engineId(), seen_at: timestamp(clock.now()) })
        streak.worked()
      } catch (error) {
        streak.failed(error)
      }
      await clock.waitAbout(heartbeatSeconds * 1000, stopping.signal)
    }
  }
}
