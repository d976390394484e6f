import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExecutionStatus } from '@roost/contracts/runs/executions'
import { countsOf, nextStep, stateOf, waitSeconds } from './rules.ts'

const at = '2026-01-05T08:00:00.000Z'
/** One letter per task: held, queued, running, successful, failed, cancelled. */
const taskStates = (letters: string) =>
  [...letters].map((letter, index) => ({
    id: `e${index + 1}`,
    status: statuses[letter] ?? assert.fail(letter),
    queued_at: letter === 'h' ? null : at,
  }))
const statuses: Record<string, ExecutionStatus> = {
  h: 'queued',
  q: 'queued',
  r: 'running',
  s: 'success',
  f: 'failed',
  c: 'cancelled',
}

const steps: [letters: string, maxConcurrency: number, expected: string][] = [
  ['qqqhh', 3, 'wait'],
  ['rrqhh', 3, 'wait'],
  ['srrhh', 3, 'e4'],
  ['fcrhh', 3, 'e4 e5'],
  ['ssshhhh', 3, 'e4 e5 e6'],
  ['hhh', 10, 'e1 e2 e3'],
  ['qhchh', 2, 'e2'],
  ['sscr', 3, 'wait'],
  ['sfc', 3, 'complete'],
  ['ccc', 1, 'complete'],
]
for (const [letters, maxConcurrency, expected] of steps) {
  test(`${letters} with ${maxConcurrency} at a time: ${expected}`, () => {
    const step = nextStep(taskStates(letters), maxConcurrency)
    assert.equal(step.kind === 'release' ? step.ids.join(' ') : step.kind, expected)
  })
}

const states: [letters: string, state: string][] = [
  ['hqr', 'running'],
  ['sssh', 'running'],
  ['sss', 'completed'],
  ['sfs', 'partial'],
  ['sc', 'partial'],
  ['ff', 'failed'],
  ['fc', 'failed'],
  ['cc', 'failed'],
]
for (const [letters, state] of states) {
  test(`${letters} is ${state}`, () => assert.equal(stateOf(countsOf(taskStates(letters))), state))
}

test('counts are counts of tasks; a held task counts as queued', () => {
  assert.deepEqual(countsOf(taskStates('hqrssfc')), {
    total: 7,
    completed: 2,
    failed: 1,
    running: 1,
    queued: 2,
    cancelled: 1,
  })
})

test('the wait is the requested time, else one agent timeout per round plus a minute', () => {
  const request = { taskCount: 10, maxConcurrency: 3, timeoutSeconds: null }
  assert.equal(waitSeconds(request, 100), 460)
  assert.equal(waitSeconds({ ...request, timeoutSeconds: 10 }, 100), 10)
})
