import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../kit/fault.ts'
import { refuseUnstorable } from './body.ts'

test('422 for a body with more values than the limit, not for one at the limit', () => {
  const maxValues = 3_000_000
  // The object and its list count too.
  refuseUnstorable({ items: Array(maxValues - 2).fill(1) }, ['body'])
  assert.throws(
    () => refuseUnstorable({ items: Array(maxValues - 1).fill(1) }, ['body']),
    (error) => {
      assert.ok(error instanceof Fault)
      assert.equal(error.code, 'validation_error')
      assert.deepEqual(error.fields.issues, [
        { loc: ['body'], msg: 'must not hold more than 3000000 values', type: 'value_error' },
      ])
      return true
    },
  )
})
