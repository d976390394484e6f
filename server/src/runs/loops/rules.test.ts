import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Between,
  endAfterRun,
  endBetweenRuns,
  messageOf,
  nextCheck,
  type Ran,
  runTimeout,
} from './rules.ts'

const now = new Date('2026-01-05T10:00:00.000Z')
const startedAt = '2026-01-05T09:59:00.000Z'
const ran = (status: Ran['status'], over: Partial<Ran> = {}): Ran => ({
  status,
  cost_micros: 100_000,
  error: status === 'failed' ? 'no luck' : null,
  error_code: status === 'failed' ? 'agent_error' : null,
  started_at: startedAt,
  ...over,
})

/** One letter per run: s (success), f (failed), t (timed out), x (cancelled). */
function between(letters: string, over: Partial<Between['loop']> = {}, more: Partial<Between> = {}): Between {
  const statuses = { s: 'success', f: 'failed', t: 'failed', x: 'cancelled' } as const
  // The tests use only these letters.
  const runs = [...letters].map((letter) =>
    ran(statuses[letter as keyof typeof statuses], letter === 't' ? { error_code: 'timeout' } : {}),
  )
  return {
    loop: {
      max_runs: 10,
      on_failure: 'abort',
      max_consecutive_failures: 3,
      stop_signal: null,
      delay_seconds: 0,
      max_duration_seconds: null,
      max_cost_micros: null,
      no_progress_threshold: 3,
      stop_requested_at: null,
      runs_completed: runs.length,
      created_at: '2026-01-05T09:00:00.000Z',
      ...over,
    },
    runs,
    response: letters.endsWith('s') ? 'the reply' : null,
    isStuck: false,
    now,
    ...more,
  }
}
const stopRequested = { stop_requested_at: startedAt }
const signal = { stop_signal: 'reply' }
const tolerant = { on_failure: 'continue' as const }

const cases: [string, Between, [string, string] | null][] = [
  ['no end condition applies', between('ss'), null],
  ['the last of max_runs', between('ss', { max_runs: 2 }), ['completed', 'max_runs_reached']],
  [
    'the same with a tolerated failure',
    between('fs', { ...tolerant, max_runs: 2 }),
    ['completed_with_errors', 'max_runs_reached'],
  ],
  [
    'the last of them fails',
    between('sf', { ...tolerant, max_runs: 2 }),
    ['completed_with_errors', 'max_runs_reached'],
  ],
  ['the reply contains the signal', between('s', signal), ['completed', 'stop_signal_matched']],
  [
    'the signal after a tolerated failure',
    between('fs', { ...tolerant, ...signal }),
    ['completed_with_errors', 'stop_signal_matched'],
  ],
  [
    'the signal wins over a stop, the last run and lack of progress',
    between('s', { ...signal, ...stopRequested, max_runs: 1 }, { isStuck: true }),
    ['completed', 'stop_signal_matched'],
  ],
  ['the reply does not contain the signal', between('s', { stop_signal: 'DONE' }), null],
  ['no progress', between('sss', {}, { isStuck: true }), ['stopped', 'no_progress']],
  [
    'no progress wins over the last run',
    between('sss', { max_runs: 3 }, { isStuck: true }),
    ['stopped', 'no_progress'],
  ],
  [
    'a pending stop suppresses no progress',
    between('sss', stopRequested, { isStuck: true }),
    ['stopped', 'user_stopped'],
  ],
  [
    'so does a passed deadline',
    between('sss', { max_duration_seconds: 60 }, { isStuck: true }),
    ['stopped', 'deadline_exceeded'],
  ],
  ['the first failure aborts', between('sf'), ['failed', 'error']],
  ['it aborts also as the last run', between('f', { max_runs: 1 }), ['failed', 'error']],
  ['a failure is tolerated', between('sff', tolerant), null],
  ['too many in a row are not', between('sfff', tolerant), ['failed', 'error']],
  ['a success between resets the streak', between('ffsff', tolerant), null],
  [
    'one failure ends it with a limit of one',
    between('f', { ...tolerant, max_consecutive_failures: 1 }),
    ['failed', 'error'],
  ],
  ['a timeout before the deadline', between('st', { max_duration_seconds: 61 }), ['failed', 'error']],
  [
    'a timeout at the deadline',
    between('st', { max_duration_seconds: 60 }),
    ['stopped', 'deadline_exceeded'],
  ],
  [
    'the same as the last tolerated failure in a row',
    between('fft', { ...tolerant, max_duration_seconds: 60 }),
    ['stopped', 'deadline_exceeded'],
  ],
  ['another failure at the deadline', between('sf', { max_duration_seconds: 60 }), ['failed', 'error']],
  ['a cancelled run', between('sx', tolerant), ['stopped', 'user_stopped']],
  [
    'the last run wins over a stop',
    between('ss', { max_runs: 2, ...stopRequested }),
    ['completed', 'max_runs_reached'],
  ],
  [
    'a stop wins over the deadline and the budget',
    between('s', { ...stopRequested, max_duration_seconds: 1, max_cost_micros: 1 }),
    ['stopped', 'user_stopped'],
  ],
  [
    'the deadline wins over the budget',
    between('s', { max_duration_seconds: 60, max_cost_micros: 1 }),
    ['stopped', 'deadline_exceeded'],
  ],
  ['the deadline has not passed', between('s', { max_duration_seconds: 61 }), null],
  ['the budget is exhausted', between('ss', { max_cost_micros: 200_000 }), ['stopped', 'budget_exhausted']],
  ['the budget is not exhausted', between('ss', { max_cost_micros: 200_001 }), null],
]
for (const [title, state, expected] of cases) {
  test(`${title}: ${expected?.join(', ') ?? 'the loop continues'}`, () => {
    const end = endAfterRun(state)
    assert.deepEqual(end && [end.status, end.stop_reason], expected)
  })
}

test('the time left until the deadline limits the timeout of a run, to at least 60 seconds', () => {
  const bound = (max_duration_seconds: number | null, timeout_per_run: number | null = null) => ({
    timeout_per_run,
    max_duration_seconds,
    created_at: '2026-01-05T09:00:00.000Z',
  })
  // The first run began 60 seconds ago.
  const runs = [ran('success')]
  const timeouts = {
    'no deadline': runTimeout(bound(null), runs, now),
    'no deadline, own timeout': runTimeout(bound(null, 90), runs, now),
    'first run': runTimeout(bound(900), [], now),
    'first run, short deadline': runTimeout(bound(1), [], now),
    'later run': runTimeout(bound(900), runs, now),
    'later run, a fraction of a second later': runTimeout(bound(900), runs, new Date(now.getTime() + 1)),
    'own timeout is shorter': runTimeout(bound(900, 90), runs, now),
    'own timeout is longer than what is left': runTimeout(bound(160, 120), runs, now),
    'less than the shortest timeout is left': runTimeout(bound(65), runs, now),
    'the same with an own timeout below it': runTimeout(bound(65, 10), runs, now),
  }
  assert.deepEqual(Object.values(timeouts), [null, 90, 900, 60, 840, 840, 90, 100, 60, 10])
})

test('the error names one failure or a streak of failures as the cause', () => {
  assert.equal(endAfterRun(between('sf'))?.error, 'Run 2 failed: no luck')
  assert.match(endAfterRun(between('sfff', tolerant))?.error ?? '', /^3 runs in a row failed.*no luck$/)
})

test('a stop ends an idle loop, and a deadline counts from the start of the first run', () => {
  const { loop, runs } = between('s', stopRequested)
  assert.equal(endBetweenRuns(loop, runs, now)?.stop_reason, 'user_stopped')
  const neverClaimed = [ran('failed', { started_at: null })]
  const bound = between('f', { max_duration_seconds: 3599 }).loop
  assert.equal(endBetweenRuns(bound, neverClaimed, now)?.stop_reason, 'deadline_exceeded')
  assert.equal(endBetweenRuns(bound, [ran('failed')], now), null)
})

test('the next step is after the delay, or at an earlier deadline', () => {
  const { loop, runs } = between('s', { delay_seconds: 600 })
  assert.equal(nextCheck(loop, runs, now).toISOString(), '2026-01-05T10:10:00.000Z')
  const bound = { ...loop, max_duration_seconds: 90 }
  assert.equal(nextCheck(bound, runs, now).toISOString(), '2026-01-05T10:00:30.000Z')
})

test('placeholders are filled in one pass: placeholders in a reply stay as they are', () => {
  const template = 'Run {{run}} of {{run}}: {{previous_response}}|{{ run }}'
  assert.equal(messageOf(template, 1, null), 'Run 1 of 1: |{{ run }}')
  assert.equal(messageOf(template, 2, 'see {{run}} $& $1'), 'Run 2 of 2: see {{run}} $& $1|{{ run }}')
})

test('the last 2,000 characters of the previous reply are used, without a lone surrogate', () => {
  const reply = `${'x'.repeat(50)}😀${'y'.repeat(1_999)}`
  const filled = messageOf('{{previous_response}}', 2, reply)
  assert.equal(filled.length, 2_000)
  assert.ok(filled.isWellFormed())
  assert.ok(filled.endsWith('y'.repeat(1_999)))
})
