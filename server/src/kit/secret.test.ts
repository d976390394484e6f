import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { secret, shownPart } from './secret.ts'

test('at most a quarter of a secret is shown', () => {
  assert.equal(shownPart('0123456789abcdef', 'end', 4), 'cdef')
  assert.equal(shownPart('0123456789abcdef', 'start', 4), '0123')
  for (const short of ['', 'a', 'abcd', '0123456789abcde'])
    for (const place of ['start', 'end'] as const) assert.equal(shownPart(short, place, 4), null, short)
})

test('a secret is never printed by accident', () => {
  const value = secret('hunter2')
  for (const text of [JSON.stringify({ value }), `${value}`, String(value), inspect({ value })]) {
    assert.ok(!text.includes('hunter2'), text)
    assert.ok(text.includes('[secret]'), text)
  }
})
