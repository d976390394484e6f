import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../agents/test/world.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { createScheduleTimes } from '../schedule-times/index.ts'
import { lead } from './leader.ts'
import type { Platform } from './platform.ts'

/** The due time, changes, runs, and when to tell of itself. */
const atRest = 4

forEachDialect((_dialect, open) => {
  test('an API that is away for long is told of when it goes and when it comes, not each time it is asked', async () => {
    await using db = await open()
    const clock = createTestClock('2026-01-05T08:00:30.000Z')
    let isAway = false
    let asked = 0
    const platform: Pick<Platform, 'changes'> = {
      async changes() {
        asked += 1
        if (isAway) throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
        return { position: 1, schedules: [] }
      },
    }
    const told: string[] = []
    const tell = (_fields: unknown, message: string) => void told.push(message)
    const stop = new AbortController()
    const leading = lead(
      {
        ...{ db, clock, name: 'first', since: clock.now().toISOString() },
        log: { ...silentLog, info: tell, warn: tell, error: tell },
        times: createScheduleTimes(),
        // Nothing is due here: only changes are asked for.
        platform: platform as Platform,
      },
      stop.signal,
    )
    const askedAgain = async (times: number) => {
      for (const enough = asked + times; asked < enough; ) {
        await until(() => clock.waits().length >= atRest, 'all have come to rest')
        await clock.advance(1)
      }
      await until(() => clock.waits().length >= atRest, 'all have come to rest')
    }
    await askedAgain(2)
    assert.deepEqual(told, [])
    isAway = true
    await askedAgain(6)
    assert.equal(told.length, 1, told.join('\n'))
    assert.match(told[0] ?? '', /^following the changes failed/)
    isAway = false
    await askedAgain(2)
    assert.deepEqual(told.slice(1), ['following the changes works again'])
    stop.abort()
    await leading
  })
})
