import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScheduleChange } from '@roost/contracts/triggers/firing'
import { until as comesTrue } from '../../agents/test/world.ts'
import { createLeases } from '../../foundation/leases/index.ts'
import { createScheduleTimes } from '../../kit/schedule-times.ts'
import type { Db } from '../../ports/database/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock, type TestClock } from '../../test/clock.ts'
import { forEachDialect, openTestDatabase } from '../../test/dialects.ts'
import { type FireRow, fireStore } from '../fires/index.ts'
import type { Platform } from './platform.ts'
import { startScheduler } from './service.ts'
import { eachBy } from './test/simulation.ts'

const schedule: ScheduleChange = {
  id: 's1',
  agent_id: 'a1',
  agent_name: 'scout',
  name: 'each minute',
  cron_expression: '* * * * *',
  timezone: 'UTC',
  misfire_policy: 'run_once',
  armed_at: '2026-01-05T08:00:00.000Z',
  active: true,
  position: 1,
}

/** Timers of an idle leader: lease, due time, changes, runs, stored state. A standby has one. */
const leaderTimers = 6

/** An API that makes one run per due time. */
function createPlatform(db: Db, clock: TestClock) {
  const made: string[] = []
  const single: Omit<Platform, 'fireAll'> = {
    changes: async (after) => ({ position: 1, schedules: after < 1 ? [schedule] : [] }),
    async fire({ schedule_id, due_at }) {
      const decision = { outcome: 'fired', reason: null, execution_id: due_at } as const
      const recorded_at = clock.now().toISOString()
      const due = { schedule_id, due_at, agent_id: 'a1' }
      if (await fireStore(db).decide(due, { ...decision, recorded_at })) made.push(due_at.slice(11, 16))
      return { status: 'accepted', execution_id: due_at, async_mode: true }
    },
    rehearse: async () => {},
    validate: async () => {},
    close() {},
  }
  return { made, platform: { ...single, fireAll: eachBy(single.fire) } }
}

test('a leader keeps its lease through an outage of the database that is shorter', async () => {
  const clock = createTestClock()
  await using db = await openTestDatabase()
  const leases = createLeases({ db, clock })
  let isDown = false
  let renewals = 0
  let taken = 0
  const scheduler = startScheduler({
    ...{ db, clock, platform: createPlatform(db, clock).platform, name: 'first', replicaId: 'first' },
    log: silentLog,
    leases: {
      ...leases,
      async take(...request) {
        taken += 1
        return leases.take(...request)
      },
      async renew(...request) {
        renewals += 1
        if (isDown) throw new Error('The database is down.')
        return leases.renew(...request)
      },
    },
    times: createScheduleTimes(),
  })
  const second = async () => {
    await comesTrue(() => clock.waits().length >= leaderTimers, 'all are idle')
    await clock.advance(1)
  }
  for (const wasDown of [true, false]) {
    isDown = wasDown
    for (let seconds = 0; seconds < 7; seconds += 1) await second()
  }
  assert.equal(taken, 1)
  assert.ok(renewals > 6)
  assert.equal(await leases.take('scheduler', 'second', 9), null)
  await scheduler.stop()
})

forEachDialect((_dialect, open) => {
  test('of two schedulers one leads; the other follows after its stop, and nothing fires twice', async () => {
    await using db = await open()
    const clock = createTestClock('2026-01-05T08:00:30.000Z')
    const { made, platform } = createPlatform(db, clock)
    const alive: string[] = []
    const start = (name: string) =>
      startScheduler({
        ...{ db, clock, platform, name, replicaId: name },
        onAlive: () => void alive.push(name),
        log: silentLog,
        leases: createLeases({ db, clock }),
        times: createScheduleTimes(),
      })
    // Advances by seconds, each when all are idle: a slow database must not cost the leader its lease.
    const rest = (waits: number) => comesTrue(() => clock.waits().length >= waits, 'all are idle')
    const until = async (timers: number, isSo: () => boolean | Promise<boolean>) => {
      for (let second = 0; second < 600; second += 1) {
        await rest(timers)
        if (await isSo()) return
        await clock.advance(1)
      }
    }
    const leader = async () => (await fireStore(db).state())?.leader
    const first = start('first')
    await until(leaderTimers, async () => (await leader()) === 'first')
    const second = start('second')
    await until(leaderTimers + 1, () => made.length >= 3)
    assert.equal(await leader(), 'first')
    // Both report that they work: the leader with each renewal, the other with each attempt.
    for (const name of ['first', 'second']) assert.ok(alive.filter((each) => each === name).length > 5)
    await first.stop()
    await rest(1)
    await clock.advance(5)
    await until(leaderTimers, async () => (await leader()) === 'second')
    const before = made.length
    await until(leaderTimers, () => made.length >= before + 2)
    await second.stop()
    assert.equal(await leader(), 'second')
    assert.deepEqual(made, [...new Set(made)], 'each once')
    const rows = await db.withTables<{ fires: FireRow }>().selectFrom('fires').selectAll().execute()
    assert.ok(rows.every(({ outcome }) => outcome === 'fired' || outcome === 'missed' || outcome === null))
    assert.equal(rows.filter(({ outcome }) => outcome === 'fired').length, made.length)
  })
})
