import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { DatabaseDown, DatabaseFull } from '../ports/database/port.ts'
import { problemOf, validationFault } from './problem.ts'

test('503 store_unavailable with a retry time and without the database’s error text', () => {
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

describe('422 of a schema', () => {
  const detailOf = (schema: z.ZodType, value: unknown) => {
    const { error } = schema.safeParse(value)
    assert.ok(error)
    return problemOf(validationFault('body', error), 'r1').body.detail
  }
  const several = z.object({
    value: z.union([z.string(), z.number(), z.object({ depth: z.number() })]),
  })

  test('of a union lists its kinds', () => {
    assert.deepEqual(detailOf(several, { value: true }), [
      { loc: ['body', 'value'], msg: 'must be one of: string, number, object', type: 'invalid_union' },
    ])
  })
  test('of a missing union value reports that it is required', () => {
    assert.deepEqual(detailOf(several, {}), [{ loc: ['body', 'value'], msg: 'is required', type: 'missing' }])
  })
  test('of a union value of one kind names the invalid field in it', () => {
    assert.deepEqual(detailOf(several, { value: { depth: 'x' } }), [
      {
        loc: ['body', 'value', 'depth'],
        msg: 'must be a number',
        type: 'invalid_type',
      },
    ])
  })
  test('of a union with its own message keeps that message', () => {
    const schema = z.object({
      value: z.union([z.string(), z.number()], { error: 'must be text or a number' }),
    })
    assert.deepEqual(detailOf(schema, { value: [] }), [
      { loc: ['body', 'value'], msg: 'must be text or a number', type: 'invalid_union' },
    ])
  })
  test('of ten thousand invalid items names the first fifty', () => {
    const detail = detailOf(z.object({ items: z.array(z.string()) }), { items: Array(10_000).fill(1) })
    assert.equal(detail.length, 50)
    assert.deepEqual((detail[49] as { loc: unknown }).loc, ['body', 'items', 49])
    assert.equal(detailOf(z.strictObject({}), Object.fromEntries(Array(99).entries())).length, 50)
  })
})

test('507 store_full for a database whose disk is full', () => {
  const { status, headers, body, unexpected } = problemOf(new DatabaseFull(new Error('full')), 'r1')
  assert.deepEqual(
    [status, body.error, body.detail, headers['retry-after'], unexpected],
    [507, 'store_full', 'The disk of the database is full: nothing can be written.', '60', false],
  )
})
