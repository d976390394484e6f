import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoint } from '@roost/contracts/kit/endpoint'
import { defaultMaxValues } from '@roost/contracts/kit/primitives'
import { z } from 'zod'
import { Fault } from '../kit/fault.ts'
import { readBody } from './body.ts'

const items = endpoint({
  id: 'items',
  method: 'POST',
  path: '/items',
  summary: 'Test',
  tag: 'Test',
  access: { who: 'none' },
  body: z.object({ items: z.unknown() }),
})

const read = (text: string, maxValues?: number) =>
  readBody({ ...items, ...(maxValues === undefined ? {} : { maxValues }) }, Buffer.from(text), undefined)

const isRefused =
  (msg: string, loc: (string | number)[] = ['body']) =>
  (error: unknown) => {
    assert.ok(error instanceof Fault)
    assert.equal(error.code, 'validation_error')
    assert.deepEqual(error.fields.issues, [{ loc, msg, type: 'value_error' }])
    return true
  }

test('422 for a body with more values than the limit of its endpoint, not for one at the limit', () => {
  // The object and its list count too.
  const body = (values: number) => JSON.stringify({ items: Array(values - 2).fill(1) })
  read(body(defaultMaxValues))
  const message = (most: number) => `must not hold more than ${most} values`
  assert.throws(() => read(body(defaultMaxValues + 1)), isRefused(message(defaultMaxValues)))
  read(body(10), 10)
  assert.throws(() => read(body(11), 10), isRefused(message(10)))
})

test('a body with too many values is refused before it is parsed', () => {
  assert.throws(() => read('[1,2,3', 4), isInvalidJson)
  assert.throws(() => read('[1,2,3', 3), isRefused('must not hold more than 3 values'))
})

test('a refusal names the place of the value', () => {
  const text = '{"items":[{"a":[1]},{"b":[[2],{"c":"\\u0000"}]}]}'
  assert.throws(
    () => read(text),
    isRefused('must not contain the character U+0000', ['body', 'items', 1, 'b', 1, 'c']),
  )
  assert.throws(
    () => read('{"items":[[],{"\\ud800":1}]}'),
    isRefused('must not contain half of a surrogate pair', ['body', 'items', 1, '\ud800']),
  )
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  read(`{"items":${nested(99)}}`)
  assert.throws(
    () => read(`{"items":${nested(100)}}`),
    isRefused('must not be nested deeper than 100 levels'),
  )
})

function isInvalidJson(error: unknown): boolean {
  return error instanceof Fault && error.code === 'invalid_json'
}
