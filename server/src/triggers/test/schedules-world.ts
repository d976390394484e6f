import type { LastFire } from '@roost/contracts/triggers/schedules'
import type { AgentsArea } from '../../agents/area.ts'
import { type AgentsWorld, createShared, openAgents, type Shared } from '../../agents/test/world.ts'
import { createOutbox } from '../../foundation/outbox/index.ts'
import type { Route } from '../../http/route.ts'
import { newId } from '../../kit/ids.ts'
import type { Db } from '../../ports/database/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createSchedules, type FireByHand, type Schedules, scheduleRoutes } from '../schedules/index.ts'

export type SchedulesWorld = AgentsWorld & {
  schedules: Schedules
  lastFires: Map<string, LastFire>
  retention: { days: number }
  /** Fires by hand, with their callers. */
  fired: { schedule: string; by: string }[]
}

export type SchedulesWorldOptions = {
  shared?: Shared
  /** Routes of features that use schedules. */
  more?: (schedules: Schedules, area: AgentsArea) => Route[]
}

/** Agents and their schedules in one process. */
export async function openSchedules(
  db: Db & AsyncDisposable,
  { shared = createShared(), more = () => [] }: SchedulesWorldOptions = {},
): Promise<SchedulesWorld> {
  const { clock, ephemeral } = shared
  const lastFires = new Map<string, LastFire>()
  const retention = { days: 30 }
  const fired: SchedulesWorld['fired'] = []
  const fire: FireByHand = async ({ name }, { user }) => {
    fired.push({ schedule: name, by: user.username })
    return { executionId: newId() }
  }
  const created: Schedules[] = []
  const one = () => {
    const [schedules] = created
    if (!schedules) throw new Error('The schedules do not exist yet.')
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
        agentRecords: area.agentRecords,
        agentAccess: area.agentAccess.resolveAgent,
        hooks: area.hooks,
        retentionDays: () => retention.days,
        lastFires: async () => lastFires,
      })
      created.push(schedules)
      return [...scheduleRoutes(schedules, fire), ...more(schedules, area)]
    },
  })
  return { ...world, schedules: one(), lastFires, retention, fired }
}

/** A world with one agent `helper`, its owner, and a caller of each relation. */
export async function openHelper(db: Db & AsyncDisposable, options: SchedulesWorldOptions = {}) {
  const world = await openSchedules(db, options)
  const owner = await world.person('creator', 'ann@example.com')
  await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
  const shared = await world.person('user', 'sam@example.com')
  await world.request(owner.key, 'POST', '/api/agents/helper/share', { email: shared.email })
  const stranger = await world.person('creator', 'eve@example.com')
  const admin = await world.person('admin', 'root@example.com')
  const agentId: string = (await world.row('helper')).id
  const agentKey = await world.agentKey(agentId)
  const create = async (over: object = {}, key = owner.key) => {
    const body = { name: 'nightly', cron_expression: '0 3 * * *', message: 'tidy up', ...over }
    const reply = await world.request(key, 'POST', '/api/agents/helper/schedules', body)
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.json))
    return reply.json
  }
  return { ...world, world, owner, shared, stranger, admin, agentKey, agentId, create }
}
