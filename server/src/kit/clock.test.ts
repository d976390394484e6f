import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from './clock.ts'

test('waits for about the same time end together', async () => {
  const ended: string[] = []
  const start = performance.now()
  const first = systemClock.waitAbout(2000).then(() => ended.push('first'))
  await systemClock.wait(30)
  const rest = start - performance.now() + 2000
  // An event that is waiting runs before any later timer.
  const second = systemClock.waitAbout(rest).then(() => {
    ended.push('second')
    setImmediate(() => ended.push('next'))
  })
  await Promise.all([first, second])
  assert.deepEqual(ended, ['first', 'second'])
  const seconds = (performance.now() - start) / 1000
  assert.ok(seconds > 1.4 && seconds < 10, `${seconds} s`)
})

test('from four seconds on a wait ends at a multiple of five seconds', async () => {
  // A tick of one second would end it two seconds after such a multiple.
  const left = 7000 - (performance.now() % 5000)
  await systemClock.waitAbout(left < 4000 ? left + 5000 : left)
  assert.ok(performance.now() % 5000 < 1900, `${performance.now()} ms`)
})

test('a wait that is shorter than a tick lasts until the next one, and an abort ends it alone', async () => {
  const aborting = new AbortController()
  const aborted = systemClock.waitAbout(3_600_000, aborting.signal)
  const start = performance.now()
  await systemClock.waitAbout(0)
  await systemClock.waitAbout(0)
  const seconds = (performance.now() - start) / 1000
  assert.ok(seconds > 0.9, `one whole tick at least, but ${seconds} s`)
  aborting.abort()
  await aborted
  await systemClock.waitAbout(1000, AbortSignal.abort())
})
