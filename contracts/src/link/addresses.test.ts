import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatPlatformAddress, parsePlatformAddress } from './addresses.ts'

test('addresses of the platform have an optional host and a port, and survive the round trip', () => {
  for (const [text, host, port] of [
    ['10.0.0.6:8001', '10.0.0.6', 8001],
    [':8002', null, 8002],
    ['roost.internal:1', 'roost.internal', 1],
    ['[fd00::1]:65535', 'fd00::1', 65_535],
  ] as const) {
    assert.deepEqual(parsePlatformAddress(text), { host, port })
    assert.equal(formatPlatformAddress({ host, port }), text)
  }
})

test('an address with anything else in it is invalid', () => {
  const invalid = [
    '',
    'host',
    'host:',
    ':0',
    ':65536',
    'a b:1',
    'user@host:1',
    'host:1/path',
    'a\r\nb:1',
    '[x]:1',
  ]
  for (const text of [...invalid, 'fd00::1:8001', '-a:1', `${'a'.repeat(254)}:1`, '[::]]:1'])
    assert.equal(parsePlatformAddress(text), null, text)
})
