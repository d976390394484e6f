import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import type { KeyCaller, SessionCaller } from './caller.ts'
import { createIdentify } from './identify.ts'

const user = { id: 'u', username: 'admin', email: null, role: 'admin' as const }
const session: SessionCaller = { kind: 'session', user, session: { jti: 'j', mode: 'admin', expires_at: '' } }
const key: KeyCaller = { kind: 'key', user, key: { id: 'k', name: 'k', scope: 'user', agent_id: null } }

const asked: string[] = []
const identify = createIdentify({
  verifySession: async (token) => {
    asked.push(token)
    return token === 'good' ? session : null
  },
  verifyKey: async (text) => (text === 'svc_mcp_good' ? key : null),
})

test('no header is an anonymous caller', async () => {
  assert.deepEqual(await identify(undefined), { kind: 'anonymous' })
})

test('the scheme is read in any case', async () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) assert.equal(await identify(`${scheme} good`), session)
})

test('a credential with the prefix of keys is looked up as a key, any other as a session', async () => {
  assert.equal(await identify('Bearer svc_mcp_good'), key)
  await assert.rejects(identify('Bearer svc_mcp_bad'), (error) => isFault(error, 'invalid_token'))
  assert.ok(!asked.includes('svc_mcp_bad'))
})

test('401 not_authenticated for another scheme and for a bearer without a token', async () => {
  for (const header of ['', 'good', 'Basic YTpi', 'Bearer', 'Bearer ', 'Bearer    ', 'Bearergood'])
    await assert.rejects(identify(header), (error) => isFault(error, 'not_authenticated'), header)
})

test('401 invalid_token for what nobody knows, and nothing is computed for an endless one', async () => {
  await assert.rejects(identify('Bearer bad'), (error) => isFault(error, 'invalid_token'))
  const endless = 'x'.repeat(100_000)
  await assert.rejects(identify(`Bearer ${endless}`), (error) => isFault(error, 'invalid_token'))
  assert.ok(!asked.includes(endless))
})
