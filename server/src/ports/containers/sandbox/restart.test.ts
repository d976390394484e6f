import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultRestartPolicy, type Run, restartDelayMs } from './restart.ts'

const minute = 60_000
const run = (endedMs: number, lastedMs = 0): Run => ({ startedMs: endedMs - lastedMs, endedMs })

test('delays double with each quick end', () => {
  const ends = [run(1), run(2), run(3), run(4)]
  const waits = ends.map((_, index) => restartDelayMs(ends.slice(0, index + 1), defaultRestartPolicy))
  assert.deepEqual(waits, [100, 200, 400, 800])
})

test('the fifth end within ten minutes is final', () => {
  const ends = [0, 1, 2, 3, 9].map((minutes) => run(minutes * minute))
  assert.equal(restartDelayMs(ends, defaultRestartPolicy), null)
})

test('ends further apart than the window continue forever', () => {
  const ends = Array.from({ length: 50 }, (_, index) => run(index * 3 * minute, 2 * minute))
  assert.equal(restartDelayMs(ends, defaultRestartPolicy), 100)
})

test('a long run resets the delay', () => {
  assert.equal(restartDelayMs([run(1), run(2), run(60_000, 30_000)], defaultRestartPolicy), 100)
  assert.equal(restartDelayMs([run(1), run(60_000, 30_000), run(60_001)], defaultRestartPolicy), 100)
})

test('no delay exceeds a minute', () => {
  const patient = { ...defaultRestartPolicy, maxExits: 100 }
  assert.equal(
    restartDelayMs(
      Array.from({ length: 40 }, (_, index) => run(index)),
      patient,
    ),
    minute,
  )
})
