import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestOf, type Candidate, plannedAttempts } from './rules.ts'

const check = (exit_code: number | null) => ({
  ...{ exit_code, timed_out: false, output: '', truncated: false, duration_ms: 1 },
})
const candidate = (number: number, over: Partial<Candidate> = {}): Candidate => ({
  ...{ number, status: 'done', hasRecord: true, costMicros: 100, durationMs: 1000, check: check(0) },
  ...over,
})

const cases: [string, Candidate[], number | null][] = [
  ['a passed check beats a lower cost', [candidate(1, { check: check(1), costMicros: 1 }), candidate(2)], 2],
  ['the lowest cost of those that passed', [candidate(1), candidate(2, { costMicros: 99 })], 2],
  ['at the same cost the shortest run', [candidate(1), candidate(2, { durationMs: 999 })], 2],
  ['then the lowest number', [candidate(2), candidate(1)], 1],
  [
    'none, if no check passed',
    [candidate(1, { check: check(1) }), candidate(2, { check: check(null) })],
    null,
  ],
  ['a failed run never wins', [candidate(1, { status: 'failed' })], null],
  ['an attempt without a record cannot be kept', [candidate(1, { hasRecord: false })], null],
]
for (const [title, candidates, best] of cases) test(title, () => assert.equal(bestOf(candidates, true), best))

test('without a check every successful run has passed', () => {
  assert.equal(
    bestOf([candidate(1, { check: null }), candidate(2, { check: null, costMicros: 5 })], false),
    2,
  )
})

test('messages × variants × repeats', () => {
  const [claude, codex] = [{ runtime: 'claude-code' as const }, { runtime: 'codex' as const }]
  const planned = plannedAttempts({ messages: ['a', 'b'], variants: [claude, codex], repeats: 2 })
  assert.equal(planned.length, 8)
  assert.deepEqual(planned.slice(0, 3), [
    { message: 'a', variant: claude },
    { message: 'a', variant: claude },
    { message: 'a', variant: codex },
  ])
})
