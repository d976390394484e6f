import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../kit/fault.ts'
import { refuseUnkeepable } from './body.ts'

test('a body of more values than are read in passing is refused by name, one with as many is not', () => {
  const most = 3_000_000
  // The object and its list are two of them.
  refuseUnkeepable({ items: Array(most - 2).fill(1) }, ['body'])
  assert.throws(
    () => refuseUnkeepable({ items: Array(most - 1).fill(1) }, ['body']),
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
