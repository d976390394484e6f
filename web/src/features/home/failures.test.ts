import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filterOf, groupFailures } from './failures.ts'

let count = 0
type Fields = { agent_name?: string; redacted?: boolean; error_code?: 'timeout' }
const failed = (error_summary: string | null, fields: Fields = {}) => ({
  id: `run-${count++}`,
  agent_name: 'scout',
  triggered_by: 'schedule' as const,
  created_at: '2026-01-05T03:00:00.000Z',
  error_summary,
  error_code: 'agent_error' as const,
  ...fields,
})

test('errors that differ in figures, ids and the name of the agent are one cause, the largest first', () => {
  const groups = groupFailures([
    failed('No answer'),
    failed('The run timed out after 900 s'),
    failed('\nThe run timed out after 1,800 s\nsee the log', { agent_name: 'rover' }),
    failed('Agent rover has no session 6f1c-22ab', { agent_name: 'rover' }),
    failed('Agent scout has no session 77de-90aa'),
    failed('agent scout has no session a1'),
  ])
  assert.deepEqual(
    groups.map(({ label, runs, agents }) => [label, runs.length, agents]),
    [
      ['Agent rover has no session 6f1c-22ab', 3, ['rover', 'scout']],
      ['The run timed out after 900 s', 2, ['scout', 'rover']],
      ['No answer', 1, ['scout']],
    ],
  )
})

test('withheld and missing errors are causes of their own', () => {
  const groups = groupFailures([failed(null), failed(null, { redacted: true }), failed(' \n')])
  assert.deepEqual(
    groups.map(({ label, runs }) => [label, runs.length]),
    [
      ['No error message', 2],
      ['Private conversation', 1],
    ],
  )
})

test('the same text with another error code is another cause', () => {
  assert.equal(groupFailures([failed('x'), failed('x', { error_code: 'timeout' })]).length, 2)
})

test('a long error is shortened', () => {
  const [group] = groupFailures([failed('x'.repeat(200))])
  assert.equal(group?.label, `${'x'.repeat(160)}…`)
})

test('a group is filtered by what its runs have in common', () => {
  const of = (...runs: Parameters<typeof groupFailures>[0]) => {
    const [group] = groupFailures(runs)
    return filterOf(group ?? assert.fail('no group'))
  }
  assert.deepEqual(of(failed('x'), failed('x')), {
    error: 'agent_error',
    agent: 'scout',
    trigger: 'schedule',
  })
  assert.deepEqual(of(failed('x'), failed('x', { agent_name: 'rover' })), {
    error: 'agent_error',
    trigger: 'schedule',
  })
  assert.deepEqual(of(failed('x'), { ...failed('x'), triggered_by: 'chat' }), {
    error: 'agent_error',
    agent: 'scout',
  })
  assert.deepEqual(of(failed('x'), { ...failed('x', { agent_name: 'rover' }), triggered_by: 'chat' }), {
    error: 'agent_error',
  })
})
