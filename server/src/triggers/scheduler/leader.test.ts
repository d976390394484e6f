import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../agents/test/world.ts'
import { createScheduleTimes } from '../../kit/schedule-times.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { lead } from './leader.ts'
import type { Platform } from './platform.ts'

/** Timers of an idle leader: due time, changes, runs, stored state. */
const idleTimers = 4

forEachDialect((_dialect, open) => {
  test('a long outage of the API is logged at its start and end only', async () => {
    await using db = await open()
    const clock = createTestClock('2026-01-05T08:00:30.000Z')
    let isDown = false
    let calls = 0
    const platform: Pick<Platform, 'changes'> = {
      async changes() {
        calls += 1
        if (isDown) throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
        return { position: 1, schedules: [] }
      },
    }
    const logged: string[] = []
    const log = (_fields: unknown, message: string) => void logged.push(message)
    const stop = new AbortController()
    const leading = lead(
      {
        ...{ db, clock, name: 'first', since: clock.now().toISOString() },
        log: { ...silentLog, info: log, warn: log, error: log },
        times: createScheduleTimes(),
        // Nothing is due here, so only changes are requested.
        platform: platform as Platform,
      },
      stop.signal,
    )
    const afterCalls = async (times: number) => {
      for (const enough = calls + times; calls < enough; ) {
        await until(() => clock.waits().length >= idleTimers, 'the leader is idle')
        await clock.advance(1)
      }
      await until(() => clock.waits().length >= idleTimers, 'the leader is idle')
    }
    await afterCalls(2)
    assert.deepEqual(logged, [])
    isDown = true
    await afterCalls(6)
    assert.equal(logged.length, 1, logged.join('\n'))
    assert.match(logged[0] ?? '', /^reading the changes failed/)
    isDown = false
    await afterCalls(2)
    assert.deepEqual(logged.slice(1), ['reading the changes works again'])
    stop.abort()
    await leading
  })
})
