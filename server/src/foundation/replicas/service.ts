import type { ReplicaList, ReplicaRole } from '@roost/contracts/operations/replicas'
import type { Loop } from '../../background/loops.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Alerts } from '../alerts/index.ts'
import type { Leases } from '../leases/index.ts'
import { forgottenAfterSeconds, heartbeatSeconds, stateOf, versionsAlert, versionsOf } from './rules.ts'
import { type ReplicaRow, replicaStore } from './store.ts'

/** A process as it describes itself at its start. Its id is also the holder of its leases. */
export type ReplicaDescription = Omit<ReplicaRow, 'seen_at'>

export type Replicas = {
  /** All replicas with the leases that they hold now. */
  list(): Promise<ReplicaList>
  /** Number of live replicas of each role and version. */
  live(): Promise<{ role: ReplicaRole; version: string; count: number }[]>
  /** Records a heartbeat of another process. Returns the seconds until the next one is expected. */
  report(replica: ReplicaDescription): Promise<number>
  remove(id: string): Promise<void>
  /** The container engines of the API processes that ran in the last ten minutes. */
  usedEngines(): Promise<{ engine_id: string; host_name: string }[]>
  /** Whether these are several: then each machine has agents and workspace records of its own. */
  hasSeveralMachines(): Promise<boolean>
  /** Removes the processes that reported here: they end together with this one, or report elsewhere within seconds. */
  close(): Promise<void>
  loops: Loop[]
}

export type ReplicasDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  leases: Pick<Leases, 'held'>
  alerts: Pick<Alerts, 'raise' | 'clear'>
  /** Id of this process. */
  replicaId: string
}

/** The live API processes with this container engine, as host names. */
export async function liveHostsOf(db: Db, engineId: string, now: Date): Promise<string[]> {
  const rows = await replicaStore(db).all()
  const live = rows.filter((row) => row.engine_id === engineId && stateOf(row, now) === 'live')
  return [...new Set(live.map(({ host_name }) => host_name))]
}

export function createReplicas(deps: ReplicasDeps): Replicas {
  const { db, clock, leases, alerts, replicaId } = deps
  const store = replicaStore(db)
  const reported = new Set<string>()
  let isClosed = false

  async function watch(): Promise<void> {
    const now = clock.now()
    await store.removeSeenBefore(timestamp(secondsLater(now, -forgottenAfterSeconds)))
    const alert = versionsAlert(await store.all(), now)
    await db.atomically((tx) => (alert ? alerts.raise(tx, alert) : alerts.clear(tx, null, 'versions_differ')))
  }

  async function usedEngines(): Promise<{ engine_id: string; host_name: string }[]> {
    const since = secondsLater(clock.now(), -forgottenAfterSeconds).getTime()
    return (await store.all()).flatMap(({ engine_id, host_name, seen_at }) =>
      engine_id === null || Date.parse(seen_at) < since ? [] : [{ engine_id, host_name }],
    )
  }

  return {
    async list() {
      const now = clock.now()
      const [rows, held] = await Promise.all([store.all(), leases.held()])
      return {
        timestamp: timestamp(now),
        versions: versionsOf(rows, now),
        replicas: rows.map(({ seen_at, ...row }) => ({
          ...row,
          last_heartbeat_at: seen_at,
          state: stateOf({ seen_at }, now),
          is_current: row.id === replicaId,
          leases: held
            .filter(({ holder }) => holder === row.id)
            .map(({ name, since, until }) => ({ name, since, until })),
        })),
      }
    },
    async live() {
      const now = clock.now()
      const counts = new Map<string, { role: ReplicaRole; version: string; count: number }>()
      for (const row of await store.all()) {
        if (stateOf(row, now) !== 'live') continue
        const { role, version } = row
        const known = counts.get(`${role} ${version}`) ?? { role, version, count: 0 }
        counts.set(`${role} ${version}`, { ...known, count: known.count + 1 })
      }
      return [...counts.values()]
    },
    async report(replica) {
      // A row that is written now would stay behind.
      if (isClosed) return heartbeatSeconds
      reported.add(replica.id)
      await store.put({ ...replica, seen_at: timestamp(clock.now()) })
      return heartbeatSeconds
    },
    usedEngines,
    async hasSeveralMachines() {
      return new Set((await usedEngines()).map(({ engine_id }) => engine_id)).size > 1
    },
    async remove(id) {
      reported.delete(id)
      await store.remove(id)
    },
    async close() {
      isClosed = true
      // If this fails, the rows become silent, like those of killed processes.
      await Promise.all([...reported].map((id) => store.remove(id).catch(() => {})))
    },
    loops: [{ name: 'replicas', everySeconds: 60, run: watch }],
  }
}
