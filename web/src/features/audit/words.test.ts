import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionLabel, outcomeOf } from './words.ts'

test('a refusal is told from a fault, and what has no status was done', () => {
  const outcomes = [200, 303, 400, 401, 403, 404, 500, null].map((status) => outcomeOf({ status }))
  assert.deepEqual(outcomes, ['ok', 'ok', 'failed', 'refused', 'refused', 'failed', 'failed', 'ok'])
})

test('an action reads as words, however it is written', () => {
  assert.equal(actionLabel('set_role'), 'Set role')
  assert.equal(actionLabel('listUsers'), 'List users')
})
