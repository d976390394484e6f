import assert from 'node:assert/strict'
import { test } from 'node:test'
import { executionErrorCodes } from '@roost/contracts/runs/executions'
import { bucketLabel } from './bucket-label.ts'
import { firstLine } from './first-line.ts'
import { waitReason } from './wait-reason.ts'
import { errorWords, knownStatus, knownTrigger, terminalWords, terminatedWords } from './words.ts'

test('every error code has a title and a hint', () => {
  for (const code of executionErrorCodes) {
    assert.ok(errorWords[code].title.length > 5, code)
    assert.ok(errorWords[code].hint.endsWith('.'), code)
  }
})

test('an unknown reason is formatted as words', () => {
  assert.equal(terminalWords('max_duration'), 'Timed out')
  assert.equal(terminalWords('something_new'), 'Something new')
})

test('an invalid filter in the address is ignored', () => {
  assert.equal(knownStatus('failed'), 'failed')
  assert.equal(knownStatus('broken'), null)
  assert.equal(knownTrigger(undefined), null)
})

test('each outcome of a stop has a message', () => {
  assert.match(terminatedWords({ status: 'already_finished' }), /already ended/)
  assert.match(terminatedWords({ status: 'cancelled_while_queued' }), /queue/)
  assert.match(terminatedWords({ status: 'terminated', delivered: false }), /offline/)
})

test('explains the wait by the agent, the breaker, the slots and the runs ahead', () => {
  const full = { active_slots: 2, effective_max_parallel_tasks: 2 }
  const reason = (facts: Partial<Parameters<typeof waitReason>[0]>) =>
    waitReason({ agentStatus: 'running', capacity: full, position: 1, ...facts })
  assert.match(reason({ agentStatus: 'stopped' }), /not running/)
  assert.match(reason({ breaker: 'open' }), /breaker is open/)
  assert.match(reason({ position: null }), /earlier runs of its fan-out/)
  assert.equal(reason({}), 'All 2 slots are in use; this run is next.')
  assert.equal(reason({ position: 2 }), 'All 2 slots are in use; 1 run is ahead of it.')
  assert.equal(reason({ position: 4 }), 'All 2 slots are in use; 3 runs are ahead of it.')
  assert.match(reason({ capacity: { active_slots: 0, effective_max_parallel_tasks: 2 } }), /slot is free/)
})

test('a message is one line in a list, without heading marks', () => {
  assert.equal(firstLine('\n\n## The night\nThree runs'), 'The night')
  assert.equal(firstLine('a'.repeat(30), 10), `${'a'.repeat(10)}…`)
  assert.equal(firstLine(null), 'No message')
})

test('hours of a timeline are local, days are in UTC', () => {
  const locale = { language: 'en-GB', timeZone: 'Europe/Berlin' }
  assert.equal(bucketLabel('2026-03-01T23:00:00.000Z', 'hour', locale), '2 Mar, 00:00')
  assert.equal(bucketLabel('2026-03-01', 'day', locale), '1 Mar')
  assert.equal(bucketLabel('scout', 'agent', locale), 'scout')
})
