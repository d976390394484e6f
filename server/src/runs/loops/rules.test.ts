import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  endAfterRun,
  endBetweenRuns,
  type LoopProgress,
  messageOf,
  nextCheck,
  type RunState,
  runTimeout,
} from './rules.ts'

const now = new Date('2026-01-05T10:00:00.000Z')
const startedAt = '2026-01-05T09:59:00.000Z'
const runWith = (status: RunState['status'], over: Partial<RunState> = {}): RunState => ({
  status,
  cost_micros: 100_000,
  error: status === 'failed' ? 'no luck' : null,
  error_code: status === 'failed' ? 'agent_error' : null,
  started_at: startedAt,
  ...over,
})

/** One letter per run: s (success), f (failed), t (timed out), x (cancelled). */
function progress(
  letters: string,
  over: Partial<LoopProgress['loop']> = {},
  more: Partial<LoopProgress> = {},
): LoopProgress {
  const statuses = { s: 'success', f: 'failed', t: 'failed', x: 'cancelled' } as const
  // The tests use only these letters.
  const runs = [...letters].map((letter) =>
    runWith(statuses[letter as keyof typeof statuses], letter === 't' ? { error_code: 'timeout' } : {}),
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

const cases: [string, LoopProgress, [string, string] | null][] = [
  ['no end condition applies', progress('ss'), null],
  ['the last of max_runs', progress('ss', { max_runs: 2 }), ['completed', 'max_runs_reached']],
  [
    'the same with a tolerated failure',
    progress('fs', { ...tolerant, max_runs: 2 }),
    ['completed_with_errors', 'max_runs_reached'],
  ],
  [
    'the last of them fails',
    progress('sf', { ...tolerant, max_runs: 2 }),
    ['completed_with_errors', 'max_runs_reached'],
  ],
  ['the reply contains the signal', progress('s', signal), ['completed', 'stop_signal_matched']],
  [
    'the signal after a tolerated failure',
    progress('fs', { ...tolerant, ...signal }),
    ['completed_with_errors', 'stop_signal_matched'],
  ],
  [
    'the signal wins over a stop, the last run and lack of progress',
    progress('s', { ...signal, ...stopRequested, max_runs: 1 }, { isStuck: true }),
    ['completed', 'stop_signal_matched'],
  ],
  ['the reply does not contain the signal', progress('s', { stop_signal: 'DONE' }), null],
  ['no progress', progress('sss', {}, { isStuck: true }), ['stopped', 'no_progress']],
  [
    'no progress wins over the last run',
    progress('sss', { max_runs: 3 }, { isStuck: true }),
    ['stopped', 'no_progress'],
  ],
  [
    'a pending stop suppresses no progress',
    progress('sss', stopRequested, { isStuck: true }),
    ['stopped', 'user_stopped'],
  ],
  [
    'so does a passed deadline',
    progress('sss', { max_duration_seconds: 60 }, { isStuck: true }),
    ['stopped', 'deadline_exceeded'],
  ],
  ['the first failure aborts', progress('sf'), ['failed', 'error']],
  ['it aborts also as the last run', progress('f', { max_runs: 1 }), ['failed', 'error']],
  ['a failure is tolerated', progress('sff', tolerant), null],
  ['too many in a row are not', progress('sfff', tolerant), ['failed', 'error']],
  ['a success between resets the streak', progress('ffsff', tolerant), null],
  [
    'one failure ends it with a limit of one',
    progress('f', { ...tolerant, max_consecutive_failures: 1 }),
    ['failed', 'error'],
  ],
  ['a timeout before the deadline', progress('st', { max_duration_seconds: 61 }), ['failed', 'error']],
  [
    'a timeout at the deadline',
    progress('st', { max_duration_seconds: 60 }),
    ['stopped', 'deadline_exceeded'],
  ],
  [
    'the same as the last tolerated failure in a row',
    progress('fft', { ...tolerant, max_duration_seconds: 60 }),
    ['stopped', 'deadline_exceeded'],
  ],
  ['another failure at the deadline', progress('sf', { max_duration_seconds: 60 }), ['failed', 'error']],
  ['a cancelled run', progress('sx', tolerant), ['stopped', 'user_stopped']],
  [
    'the last run wins over a stop',
    progress('ss', { max_runs: 2, ...stopRequested }),
    ['completed', 'max_runs_reached'],
  ],
  [
    'a stop wins over the deadline and the budget',
    progress('s', { ...stopRequested, max_duration_seconds: 1, max_cost_micros: 1 }),
    ['stopped', 'user_stopped'],
  ],
  [
    'the deadline wins over the budget',
    progress('s', { max_duration_seconds: 60, max_cost_micros: 1 }),
    ['stopped', 'deadline_exceeded'],
  ],
  ['the deadline has not passed', progress('s', { max_duration_seconds: 61 }), null],
  ['the budget is exhausted', progress('ss', { max_cost_micros: 200_000 }), ['stopped', 'budget_exhausted']],
  ['the budget is not exhausted', progress('ss', { max_cost_micros: 200_001 }), null],
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
  const runs = [runWith('success')]
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
  assert.equal(endAfterRun(progress('sf'))?.error, 'Run 2 failed: no luck')
  assert.match(endAfterRun(progress('sfff', tolerant))?.error ?? '', /^3 runs in a row failed.*no luck$/)
})

test('a stop ends an idle loop, and a deadline counts from the start of the first run', () => {
  const { loop, runs } = progress('s', stopRequested)
  assert.equal(endBetweenRuns(loop, runs, now)?.stop_reason, 'user_stopped')
  const neverClaimed = [runWith('failed', { started_at: null })]
  const bound = progress('f', { max_duration_seconds: 3599 }).loop
  assert.equal(endBetweenRuns(bound, neverClaimed, now)?.stop_reason, 'deadline_exceeded')
  assert.equal(endBetweenRuns(bound, [runWith('failed')], now), null)
})

test('the next step is after the delay, or at an earlier deadline', () => {
  const { loop, runs } = progress('s', { delay_seconds: 600 })
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
