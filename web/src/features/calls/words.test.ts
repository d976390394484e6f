import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calledNumber } from './words.ts'

test('reads the number from the beginning of the message, else falls back to “Call”', () => {
  assert.equal(calledNumber('Call to +15550123\n\nThe order.'), '+15550123')
  assert.equal(calledNumber(null), 'Call')
  assert.equal(calledNumber('Something else'), 'Call')
})
