import type { Db, Executor } from '../../ports/database/port.ts'
import { scheduleCountStore } from './counts.ts'
import { type Schedule, scheduleStore } from './store.ts'

export type SchedulesDeps = {
  db: Db
}

export type Schedules = {
  /** Null: unknown or deleted. */
  byId(id: string, on?: Executor): Promise<Schedule | null>
  /** In the order of their positions, deleted ones too: whoever follows has to forget them. */
  changesAfter(position: number, limit: number): Promise<Schedule[]>
  /** How many each agent has; agents without any are left out. */
  scheduleCounts(): Promise<Map<string, { total: number; enabled: number }>>
  schedulesOf(agentId: string): Promise<{ id: string; name: string; enabled: boolean }[]>
  /** Those whose own timeout is above `seconds`. */
  schedulesAbove(
    agentId: string,
    seconds: number,
  ): Promise<{ id: string; name: string; timeout_seconds: number }[]>
  schedulesCount(): Promise<number>
}

export function createSchedules({ db }: SchedulesDeps): Schedules {
  const store = scheduleStore(db)
  const counts = scheduleCountStore(db)
  return {
    byId: (id, on = db) => scheduleStore(on).byId(id),
    changesAfter: store.changesAfter,
    scheduleCounts: counts.counts,
    schedulesAbove: counts.above,
    schedulesCount: counts.total,
    async schedulesOf(agentId) {
      const rows = await store.ofAgent(agentId)
      return rows.map(({ id, name, enabled }) => ({ id, name, enabled: enabled === 1 }))
    },
  }
}
