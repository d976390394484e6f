import type { LastFire } from '@roost/contracts/triggers/schedules'
import { type AgentsWorld, createShared, openAgents, type Shared } from '../../agents/test/world.ts'
import { createOutbox } from '../../foundation/outbox/index.ts'
import type { Route } from '../../http/route.ts'
import type { Db } from '../../ports/database/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createSchedules, type Schedules, scheduleRoutes } from '../schedules/index.ts'

export type SchedulesWorld = AgentsWorld & {
  schedules: Schedules
  lastFires: Map<string, LastFire>
  retention: { days: number }
}

/** Agents and their schedules in one process, with `more` routes of features that stand on them. */
export async function openSchedules(
  db: Db & AsyncDisposable,
  {
    shared = createShared(),
    more = () => [],
  }: { shared?: Shared; more?: (schedules: Schedules) => Route[] } = {},
): Promise<SchedulesWorld> {
  const { clock, ephemeral } = shared
  const lastFires = new Map<string, LastFire>()
  const retention = { days: 30 }
  const made: Schedules[] = []
  const one = () => {
    const [schedules] = made
    if (!schedules) throw new Error('The schedules are not there yet.')
    return schedules
  }
  const world = await openAgents(db, {
    shared,
    needs: {
      scheduleCounts: () => one().scheduleCounts(),
      schedulesOf: (id) => one().schedulesOf(id),
      schedulesAbove: (tx, id, seconds) => one().schedulesAbove(tx, id, seconds),
    },
    routes(area) {
      const schedules = createSchedules({
        db,
        clock,
        events: createOutbox({ db, ephemeral, log: silentLog, clock }),
        directory: area.directory,
        reach: area.reach.reach,
        hooks: area.hooks,
        retentionDays: () => retention.days,
        lastFires: async () => lastFires,
      })
      made.push(schedules)
      return [...scheduleRoutes(schedules), ...more(schedules)]
    },
  })
  return { ...world, schedules: one(), lastFires, retention }
}
