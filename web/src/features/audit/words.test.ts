import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionLabel, outcomeOf } from './words.ts'

test('distinguishes refusals from failures; an entry without a status succeeded', () => {
  const outcomes = [200, 303, 400, 401, 403, 404, 500, null].map((status) => outcomeOf({ status }))
  assert.deepEqual(outcomes, ['ok', 'ok', 'failed', 'refused', 'refused', 'failed', 'failed', 'ok'])
})

test('formats actions in snake case and camel case as words', () => {
  assert.equal(actionLabel('set_role'), 'Set role')
  assert.equal(actionLabel('listUsers'), 'List users')
})
