import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBrokerTokens } from './tokens.ts'

const macOf = (key: string) => (text: string) =>
  Buffer.from(`${key}:${text}`).toString('base64url').padEnd(20, 'x')
const grant = { agentId: 'agent-1', kind: 'execution' as const, id: 'run-1' }

test('a token of a turn that ran while the key was rotated is read, but new ones have the new key', () => {
  const before = createBrokerTokens(macOf('old'))
  const token = before.mint(grant)
  const after = createBrokerTokens(macOf('new'), (text) => [macOf('old')(text)])
  assert.deepEqual(after.read(token), grant)
  assert.notEqual(after.mint(grant), token)
  assert.equal(before.read(after.mint(grant)), null)
  assert.equal(createBrokerTokens(macOf('new')).read(token), null)
})
