import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ApiError } from '@roost/contracts/client'
import { errorHelpPath } from '@roost/contracts/kit/errors'
import { describeFault, helpPathOf } from './fault.ts'

it('assigns validation errors to the fields they name, as rests of sentences', () => {
  const fault = describeFault(
    new ApiError(422, {
      error: 'validation_error',
      detail: [
        { loc: ['body', 'name'], msg: 'is required', type: 'missing' },
        { loc: ['body', 'retry', 'max'], msg: 'is too large', type: 'too_big' },
        { loc: ['query', 'limit'], msg: 'is no number', type: 'invalid' },
      ],
    }),
  )
  assert.deepEqual(fault.fields, { name: 'is required', 'retry.max': 'is too large' })
  assert.equal(fault.code, 'validation_error')
})

it('assigns an error code to the field it names', () => {
  const fault = describeFault(
    new ApiError(400, { error: 'invalid_timezone', detail: 'The timezone is unknown.', field: 'timezone' }),
  )
  assert.deepEqual(fault.fields, { timezone: 'The timezone is unknown.' })
})

it('shows the request ID of a platform failure, not of a refusal', () => {
  const idOf = (status: number) =>
    describeFault(new ApiError(status, { error: 'internal_error', detail: 'Sorry.', request_id: 'r-1' }))
      .requestId
  assert.equal(idOf(500), 'r-1')
  assert.equal(idOf(404), null)
})

it('links codes of the platform to their page, and none of its own', () => {
  assert.equal(helpPathOf('agent_not_found'), errorHelpPath('agent_not_found'))
  for (const error of [new ApiError(502, null), new TypeError('Failed to fetch'), new Error('boom')])
    assert.equal(helpPathOf(describeFault(error).code), null)
})

it('distinguishes a proxy error, a broken connection and an error of the page', () => {
  assert.equal(describeFault(new ApiError(502, null)).code, 'http_502')
  assert.equal(describeFault(new TypeError('Failed to fetch')).code, 'network_error')
  assert.equal(describeFault(new Error('boom')).code, 'unexpected_error')
  assert.equal(describeFault('odd').sentence, 'Something went wrong.')
})
