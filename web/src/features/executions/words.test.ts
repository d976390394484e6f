import assert from 'node:assert/strict'
import { test } from 'node:test'
import { executionErrorCodes } from '@roost/contracts/runs/executions'
import { bucketLabel } from './bucket-label.ts'
import { firstLine } from './first-line.ts'
import { waitReason } from './wait-reason.ts'
import { errorWords, knownStatus, knownTrigger, terminalWords, terminatedWords } from './words.ts'

test('every error code is told in words with a hint', () => {
  for (const code of executionErrorCodes) {
    assert.ok(errorWords[code].title.length > 5, code)
    assert.ok(errorWords[code].hint.endsWith('.'), code)
  }
})

test('a reason that is not known yet is shown readably', () => {
  assert.equal(terminalWords('max_duration'), 'Ran into its time limit')
  assert.equal(terminalWords('something_new'), 'Something new')
})

test('an address with a filter that is none filters nothing', () => {
  assert.equal(knownStatus('failed'), 'failed')
  assert.equal(knownStatus('broken'), null)
  assert.equal(knownTrigger(undefined), null)
})

test('each word that stopping may come to says what happened', () => {
  assert.match(terminatedWords({ status: 'already_finished' }), /ended already/)
  assert.match(terminatedWords({ status: 'cancelled_while_queued' }), /queue/)
  assert.match(terminatedWords({ status: 'terminated', delivered: false }), /out of reach/)
})

test('why a run waits: the agent, the breaker, the slots, the runs before it', () => {
  const full = { active_slots: 2, effective_max_parallel_tasks: 2 }
  const reason = (facts: Partial<Parameters<typeof waitReason>[0]>) =>
    waitReason({ agentStatus: 'running', capacity: full, position: 1, ...facts })
  assert.match(reason({ agentStatus: 'stopped' }), /not running/)
  assert.match(reason({ breaker: 'open' }), /breaker is open/)
  assert.match(reason({ position: null }), /held back/)
  assert.equal(reason({}), 'All 2 slots are taken; it is next.')
  assert.equal(reason({ position: 2 }), 'All 2 slots are taken; 1 run goes before it.')
  assert.equal(reason({ position: 4 }), 'All 2 slots are taken; 3 runs go before it.')
  assert.match(reason({ capacity: { active_slots: 0, effective_max_parallel_tasks: 2 } }), /slot is free/)
})

test('a message is one line in a list, without the marks of a heading', () => {
  assert.equal(firstLine('\n\n## The night\nThree runs'), 'The night')
  assert.equal(firstLine('a'.repeat(30), 10), `${'a'.repeat(10)}…`)
  assert.equal(firstLine(null), 'No message')
})

test('hours of a timeline are told in the zone of the person, days in that of the count', () => {
  const locale = { language: 'en-GB', timeZone: 'Europe/Berlin' }
  assert.equal(bucketLabel('2026-03-01T23:00:00.000Z', 'hour', locale), '2 Mar, 00:00')
  assert.equal(bucketLabel('2026-03-01', 'day', locale), '1 Mar')
  assert.equal(bucketLabel('scout', 'agent', locale), 'scout')
})
