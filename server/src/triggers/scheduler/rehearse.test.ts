import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScheduleChange } from '@roost/contracts/triggers/firing'
import { createScheduleTimes } from '../../kit/schedule-times.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { fireStore } from '../fires/index.ts'
import { eachBy } from './test/simulation.ts'
import { createTick } from './tick.ts'

function scheduleOf(index: number): ScheduleChange {
  return {
    ...{ id: `s${index}`, agent_id: 'a1', agent_name: 'scout', name: 'nine', cron_expression: '0 9 * * *' },
    ...{ timezone: 'UTC', misfire_policy: 'run_once', armed_at: '2026-01-05T08:00:00.000Z' },
    ...{ active: true, position: index + 1 },
  }
}

forEachDialect((_name, open) => {
  test('a rehearsal of a group stores nothing, and the group fires once when it is due', async () => {
    await using db = await open()
    const clock = createTestClock('2026-01-05T08:59:58.000Z')
    const schedules = Array.from({ length: 300 }, (_, index) => scheduleOf(index))
    const rehearsed: number[] = []
    const fired: string[] = []
    const fire = async ({ schedule_id }: { schedule_id: string }) => {
      fired.push(schedule_id)
      return { status: 'accepted' as const, execution_id: schedule_id, async_mode: true as const }
    }
    const platform = {
      changes: async (after: number) => ({ position: 300, schedules: after < 300 ? schedules : [] }),
      ...{ fire, fireAll: eachBy(fire) },
      rehearse: async (dues: readonly object[]) => void rehearsed.push(dues.length),
    }
    const { signal } = new AbortController()
    const times = createScheduleTimes()
    const tick = createTick({ ...{ db, clock, platform, times, signal }, log: silentLog, started() {} })
    await tick.begin()
    await tick.rehearse()
    assert.deepEqual(rehearsed, [250])
    assert.deepEqual(await fireStore(db).open(), [])
    await clock.advance(2)
    await tick.fireDue()
    await tick.delivered()
    assert.equal(fired.length, 300)
    assert.equal(new Set(fired).size, 300)
    assert.equal((await fireStore(db).open()).length, 300)
    await tick.rehearse()
    assert.equal((await fireStore(db).open()).length, 300, 'nothing of the next day is claimed')
  })
})
