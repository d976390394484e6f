import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Evidence, violationsOf } from './judge.ts'
import type { Race, SentRequest } from './load.ts'
import type { RunRecord } from './records.ts'

const row = (over: Partial<RunRecord> = {}): RunRecord => ({
  id: 'e1',
  agent_name: 'a',
  status: 'success',
  message: 'RUN000001 [[reply:done RUN000001]]',
  response: 'done RUN000001',
  error: null,
  error_code: null,
  created_at: '2026-01-05T08:00:00.000Z',
  started_at: '2026-01-05T08:00:01.000Z',
  completed_at: '2026-01-05T08:00:02.000Z',
  ...over,
})
const failed = { status: 'failed', response: null, error: 'gone', error_code: 'agent_lost' }
const ask = (over: Partial<SentRequest> = {}): SentRequest => ({
  ask: {
    kind: 'task',
    agent: 'a',
    path: '/',
    body: {},
    runKeys: ['RUN000001'],
    idempotencyKey: 'ask-RUN000001',
  },
  acknowledged: true,
  attempts: 1,
  unexpected: null,
  refused: null,
  faults: [],
  ...over,
})
const marksOf = (...runtimes: string[]) => new Map([['RUN000001', runtimes]])
const race = (...words: (string | null)[]): Race => ({ agent: 'a', executionId: 'e1', words })
const evidence = (over: Partial<Evidence> = {}): Evidence => ({
  requests: [ask()],
  races: [],
  records: [row()],
  transcripts: [{ executionId: 'e1', numbers: [1, 2, 3], hasResult: true }],
  marks: marksOf('a 7 100'),
  leftovers: [],
  slots: [{ agent: 'a', active: 0, queued: 0 }],
  slotsNotUsable: [],
  invariants: { ok: true, read: { executions: 1 }, violations: [] },
  crashes: [],
  ...over,
})
const rulesOf = (over: Partial<Evidence>) => violationsOf(evidence(over)).map(({ rule }) => rule)
const cancelled = { status: 'cancelled', response: null, error: 'by ann', error_code: 'user_cancelled' }

test('a clean platform has no violation', () => {
  assert.deepEqual(violationsOf(evidence()), [])
  const again = row({ id: 'e2', created_at: '2026-01-05T08:00:03.000Z' })
  assert.deepEqual(rulesOf({ records: [row(failed), again] }), [], 'the key of failed work is free again')
  const inOneRuntime = marksOf('a 7 100', 'a 7 100')
  assert.deepEqual(
    rulesOf({ marks: inOneRuntime }),
    [],
    'a tool that one runtime repeats is no second runtime',
  )
  assert.deepEqual(rulesOf({ requests: [ask({ acknowledged: false })], records: [], marks: new Map() }), [])
})

const broken: [what: string, over: Partial<Evidence>, rule: string][] = [
  ['an acknowledged run without a record', { records: [], marks: new Map() }, 'lost'],
  ['two records beside each other', { records: [row(), row({ id: 'e2' })] }, 'accepted twice'],
  [
    'a second record before the first had failed',
    { records: [row(failed), row({ id: 'e2', created_at: '2026-01-05T08:00:01.500Z' })] },
    'accepted twice',
  ],
  ['two runtimes of one record', { marks: marksOf('a 7 100', 'a 9 200') }, 'spawned twice'],
  ['a success that nobody worked on', { marks: new Map() }, 'wrong answer'],
  ['a run that is still running', { records: [row({ status: 'running' })] }, 'stuck'],
  ['a failure without a code', { records: [row({ ...failed, error_code: null })] }, 'unexplained'],
  ['an answer to something else', { records: [row({ response: 'done RUN000002' })] }, 'wrong answer'],
  [
    'a missing line',
    { transcripts: [{ executionId: 'e1', numbers: [1, 3], hasResult: true }] },
    'broken transcript',
  ],
  ['a slot in use', { slots: [{ agent: 'a', active: 1, queued: 0 }] }, 'slot leaked'],
  ['a slot that nothing can use', { slotsNotUsable: ['a'] }, 'slot leaked'],
  ['a process that stays', { leftovers: ['a: sleep'] }, 'left running'],
  [
    'two winners',
    { races: [race('terminated', 'terminated')], records: [row(cancelled)] },
    'terminate told wrongly',
  ],
  ['a winner for a run that continued', { races: [race('terminated', null)] }, 'terminate told wrongly'],
  [
    'queued, and a runtime had worked',
    { races: [race('cancelled_while_queued')], records: [row(cancelled)] },
    'terminate told wrongly',
  ],
  [
    'an invariant',
    { invariants: { ok: false, read: { executions: 1 }, violations: [{}] } },
    'invariant broken',
  ],
  [
    'a report that read nothing',
    { invariants: { ok: true, read: { executions: 0 }, violations: [] } },
    'invariant broken',
  ],
  ['an unexpected reply', { requests: [ask({ unexpected: '401' })] }, 'unexpected answer'],
  ['an end of its own', { crashes: ['out of memory'] }, 'crashed by itself'],
]
for (const [what, over, rule] of broken) {
  test(`${rule}: ${what}`, () => assert.deepEqual(rulesOf(over), [rule]))
}
