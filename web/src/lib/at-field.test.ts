import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@roost/contracts/client'
import { atField } from './at-field.ts'
import { describeFault } from './fault.ts'

const fields = { invalid_timezone: 'timezone' }

test('an error code that belongs to one field is shown at that field', () => {
  const refusal = new ApiError(400, { error: 'invalid_timezone', detail: 'No such zone.' })
  assert.deepEqual(describeFault(atField(refusal, fields)).fields, { timezone: 'No such zone.' })
})

test('errors that name a field, unrelated errors and other exceptions stay unchanged', () => {
  const named = new ApiError(400, { error: 'invalid_timezone', detail: 'No.', field: 'zone' })
  const other = new ApiError(404, { error: 'not_found', detail: 'Gone.' })
  const broken = new TypeError('Failed to fetch')
  for (const error of [named, other, broken, new ApiError(502, null)])
    assert.equal(atField(error, fields), error)
})
