import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameSecret } from './same-secret.ts'

test('equal texts and equal bytes are the same, everything else differs', () => {
  const secret = 'svc_mcp_abcdef'
  assert.equal(isSameSecret(secret, 'svc_mcp_abcdef'), true)
  assert.equal(isSameSecret(Buffer.from(secret), secret), true)
  assert.equal(isSameSecret('', ''), true)
  for (const other of [
    '',
    's',
    'svc_mcp_abcdeg',
    'Svc_mcp_abcdef',
    `${secret}x`,
    ` ${secret}`,
    'x'.repeat(100_000),
  ])
    assert.equal(isSameSecret(other, secret), false, other.slice(0, 20))
})
