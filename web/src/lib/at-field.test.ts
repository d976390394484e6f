import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@roost/contracts/client'
import { atField } from './at-field.ts'
import { describeFault } from './fault.ts'

const fields = { invalid_timezone: 'timezone' }

test('a refusal that is about one field is told there', () => {
  const refusal = new ApiError(400, { error: 'invalid_timezone', detail: 'No such zone.' })
  assert.deepEqual(describeFault(atField(refusal, fields)).fields, { timezone: 'No such zone.' })
})

test('a refusal that names its field, another one, and what is none stay as they are', () => {
  const named = new ApiError(400, { error: 'invalid_timezone', detail: 'No.', field: 'zone' })
  const other = new ApiError(404, { error: 'not_found', detail: 'Gone.' })
  const broken = new TypeError('Failed to fetch')
  for (const error of [named, other, broken, new ApiError(502, null)])
    assert.equal(atField(error, fields), error)
})
