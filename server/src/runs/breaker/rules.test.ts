import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExecutionErrorCode, ExecutionStatus } from '@roost/contracts/runs/executions'
import { secondsLater, timestamp } from '../../kit/clock.ts'
import {
  admit,
  afterFailedCall,
  afterRun,
  blank,
  countOf,
  type Memory,
  secondsToRetry,
  stateOf,
  type Verdict,
  verdictOf,
} from './rules.ts'

const start = new Date('2026-01-05T08:00:00.000Z')
const at = (seconds: number) => secondsLater(start, seconds)
const ends = (memory: Memory, verdict: Verdict, seconds = 0, { id = 'r', mayOpen = true } = {}) =>
  afterRun(memory, { id, verdict }, { now: at(seconds), mayOpen }) ?? memory
const endAll = (verdicts: Verdict[]) =>
  verdicts.reduce((memory, verdict, index) => ends(memory, verdict, index), blank)

test('the verdict of an ended run', () => {
  const table: [ExecutionStatus, ExecutionErrorCode | null, Verdict][] = [
    ['success', null, 'success'],
    ['failed', 'auth', 'failure'],
    ['failed', 'billing', 'failure'],
    ['failed', 'agent_error', 'other'],
    ['failed', 'timeout', 'other'],
    ['failed', null, 'other'],
    ['failed', 'agent_lost', 'neutral'],
    ['failed', 'circuit_open', 'neutral'],
    ['cancelled', 'user_cancelled', 'neutral'],
    ['cancelled', 'auth', 'neutral'],
    ['skipped', null, 'neutral'],
  ]
  for (const [status, error_code, verdict] of table) {
    assert.equal(verdictOf({ status, error_code }), verdict, `${status} ${error_code}`)
  }
})

test('three consecutive failures open it; successes and other failures reset the streak', () => {
  const table: [Verdict[], 'closed' | 'open'][] = [
    [['failure', 'failure'], 'closed'],
    [['failure', 'failure', 'failure'], 'open'],
    [['failure', 'neutral', 'failure', 'neutral', 'failure'], 'open'],
    [['failure', 'failure', 'success', 'failure'], 'closed'],
    [['failure', 'failure', 'other', 'failure'], 'closed'],
    [['failure', 'failure', 'failure', 'success'], 'closed'],
    [['failure', 'failure', 'failure', 'failure', 'other', 'neutral'], 'open'],
  ]
  for (const [verdicts, state] of table) assert.equal(stateOf(endAll(verdicts), at(10)), state, `${verdicts}`)
})

test('while disabled it counts and stays closed; once enabled, the next failure opens it', () => {
  let memory = blank
  for (let time = 0; time < 5; time += 1) memory = ends(memory, 'failure', time, { mayOpen: false })
  assert.deepEqual([stateOf(memory, at(5)), memory.failureCount], ['closed', 5])
  assert.equal(stateOf(ends(memory, 'failure', 6), at(6)), 'open')
})

test('half open after 60 s, doubling with each failed probe, at most 30 minutes', () => {
  let memory = endAll(['failure', 'failure', 'failure'])
  const waits: (number | null)[] = []
  let time = 2
  for (let opening = 0; opening < 7; opening += 1) {
    const wait = secondsToRetry(memory, at(time)) ?? assert.fail('it is open')
    waits.push(wait)
    assert.equal(stateOf(memory, at(time + wait - 1)), 'open')
    time += wait
    assert.equal(stateOf(memory, at(time)), 'half_open')
    const probe = admit(memory, 'p', at(time))
    assert.ok(probe.admit && probe.memory)
    memory = ends(probe.memory, 'failure', time, { id: 'p' })
  }
  assert.deepEqual(waits, [60, 120, 240, 480, 960, 1800, 1800])
  assert.deepEqual(ends(memory, 'success', time), blank)
})

test('half open, one run is accepted; only its end decides', () => {
  const memory = endAll(['failure', 'failure', 'failure'])
  assert.deepEqual(admit(memory, 'x', at(32)), { admit: false, retryAfterSeconds: 30 })
  const first = admit(memory, 'p', at(100))
  assert.ok(first.admit && first.memory)
  const probing = first.memory
  assert.deepEqual(admit(probing, 'q', at(101)), { admit: false, retryAfterSeconds: 10 })
  assert.equal(ends(probing, 'failure', 101, { id: 'older' }), probing)
  for (const verdict of ['neutral', 'other'] as const) {
    const again = admit(ends(probing, verdict, 101, { id: 'p' }), 'q', at(102))
    assert.ok(
      again.admit && again.memory?.probe === 'q',
      `the next is the probe after one that was ${verdict}`,
    )
  }
})

test('five failed calls within 60 s open the transport breaker; four, or five over a longer time, do not', () => {
  const fail = (times: number[]) =>
    times.reduce<Memory>((memory, seconds) => afterFailedCall(memory, at(seconds)) ?? memory, blank)
  assert.equal(stateOf(fail([0, 1, 2, 3]), at(3)), 'closed')
  assert.equal(stateOf(fail([0, 20, 30, 40, 59]), at(59)), 'open')
  assert.equal(stateOf(fail([0, 20, 30, 40, 60]), at(60)), 'closed')
  assert.equal(countOf(fail([0, 20, 30, 40]), at(85)), 2)
  const open = fail([0, 1, 2, 3, 4])
  assert.deepEqual([open.retryAt, countOf(open, at(50))], [timestamp(at(64)), 5])
  assert.equal(afterFailedCall(open, at(63)), null)
  assert.equal(afterFailedCall(open, at(64))?.retryAt, timestamp(at(64 + 120)))
})
