import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxPayloadBytes } from '../../ports/push-service/port.ts'
import { payloadOf, retrySeconds } from './rules.ts'

test('the wait doubles up to an hour, and is never shorter than the push service asks for', () => {
  assert.deepEqual(
    [1, 2, 3, 7, 8, 40].map((attempts) => retrySeconds(attempts, null)),
    [30, 60, 120, 1920, 3600, 3600],
  )
  assert.equal(retrySeconds(1, 600), 600)
  assert.equal(retrySeconds(5, 10), 480)
})

test('the longest payload fits, and no character is cut in half', () => {
  const longest = payloadOf({ id: 'i'.repeat(22), title: '😀'.repeat(500) }, '"'.repeat(63))
  assert.ok(Buffer.byteLength(JSON.stringify(longest)) <= maxPayloadBytes)
  assert.match(longest.body, /^😀{199}…$/u)
  assert.deepEqual(payloadOf({ id: 'x', title: 'Held' }, null), { title: 'Roost', body: 'Held', item: 'x' })
})
