import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calledNumber } from './words.ts'

test('the number stands in the first words; without them it is a call', () => {
  assert.equal(calledNumber('Call to +15550123\n\nThe order.'), '+15550123')
  assert.equal(calledNumber(null), 'A call')
  assert.equal(calledNumber('Something else'), 'A call')
})
