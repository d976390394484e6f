import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseDown } from '../ports/database/port.ts'
import { problemOf } from './problem.ts'

test('503 store_unavailable with a time to come back, without the database’s own words', () => {
  const down = new DatabaseDown(new Error('connect ECONNREFUSED 10.0.0.7:5432'))
  for (const error of [down, new Error('could not read', { cause: down })]) {
    const { status, headers, body, unexpected } = problemOf(error, 'r1')
    assert.deepEqual(
      [status, body.error, headers['retry-after'], unexpected],
      [503, 'store_unavailable', '5', false],
    )
    assert.ok(!JSON.stringify(body).includes('10.0.0.7'))
  }
})
