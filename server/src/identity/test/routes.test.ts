import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGuard } from '../../http/guard.ts'
import { createServer } from '../../http/serve.ts'
import { silentLog } from '../../ports/log.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { refuseAfter, refuseBefore } from '../access/index.ts'
import { emailLoginRoutes } from '../email-login/index.ts'
import { keyRoutes } from '../keys/index.ts'
import { sessionRoutes } from '../sessions/index.ts'
import { userRoutes } from '../users/index.ts'
import { closing, openIdentity } from './fixture.ts'

const password = 'correct horse battery'

/** The routes of this area behind the real guard. */
async function start(options: { setUp: boolean } = { setUp: true }) {
  const db = await openTestDatabase()
  const it = closing(await openIdentity(db), db)
  const server = createServer({
    routes: [
      ...sessionRoutes(it.sessions, it.devices),
      ...emailLoginRoutes(it.emailLogin, it.sessions, it.devices),
      ...userRoutes(it.users),
      ...keyRoutes(it.keys),
    ],
    guard: createGuard({ identify: it.identify, agentAccess: async () => null, refuseBefore, refuseAfter }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
  })
  const send = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, token = '', body?: unknown) => {
    const reply = await server.inject({
      method,
      url,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    return { status: reply.statusCode, headers: reply.headers, json: reply.json() }
  }
  const form = async (fields: Record<string, string>) => {
    const reply = await server.inject({
      method: 'POST',
      url: '/api/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(fields).toString(),
    })
    return { status: reply.statusCode, headers: reply.headers, json: reply.json() }
  }
  const signIn = async (): Promise<string> => (await form({ username: 'admin', password })).json.access_token
  if (options.setUp) await send('POST', '/api/setup/admin-password', '', { password })
  return { ...it, send, form, signIn }
}

const refusal = ({ status, json }: { status: number; json: { error: string } }) => [status, json.error]

test('setup and the first sign-in', async () => {
  await using it = await start({ setUp: false })
  assert.deepEqual((await it.send('GET', '/api/setup/status')).json, {
    setup_completed: false,
    setup_available: true,
  })
  assert.deepEqual(refusal(await it.form({ username: 'admin', password })), [401, 'setup_required'])
  const setUp = { password, confirm_password: password, email: 'Root@Example.com ' }
  assert.deepEqual((await it.send('POST', '/api/setup/admin-password', '', setUp)).json, {
    success: true,
    email_registered: true,
  })
  assert.deepEqual((await it.send('GET', '/api/auth/mode')).json, {
    email_auth_enabled: true,
    setup_completed: true,
    public_access_requests_enabled: false,
  })
  const { status, json } = await it.form({ username: 'root@example.com', password })
  assert.deepEqual(
    [status, Object.keys(json), json.token_type],
    [200, ['access_token', 'token_type'], 'bearer'],
  )
  const me = await it.send('GET', '/api/users/me', json.access_token)
  assert.deepEqual([me.json.username, me.json.email, me.json.role], ['admin', 'root@example.com', 'admin'])
  const valid = await it.send('GET', '/api/auth/validate', json.access_token)
  assert.deepEqual(valid.json, { status: 'valid', user: me.json, expires_at: '2030-01-08T00:00:00.000Z' })
})

test('400 for a weak password or a wrong confirmation, 403 once an admin exists, 422 for invalid fields', async () => {
  await using it = await start({ setUp: false })
  const setUp = async (body: unknown) => refusal(await it.send('POST', '/api/setup/admin-password', '', body))
  assert.deepEqual(await setUp({ password: 'short' }), [400, 'weak_password'])
  assert.deepEqual(await setUp({ password, confirm_password: 'other' }), [400, 'password_mismatch'])
  for (const body of [{}, [], { password: 12 }, { password, email: 'nobody' }, { password, email: '' }])
    assert.deepEqual(await setUp(body), [422, 'validation_error'], JSON.stringify(body))
  assert.equal(
    (await it.send('POST', '/api/setup/admin-password', '', { password, email: null })).status,
    200,
  )
  for (const body of [{ password }, {}, { password: 12 }, { password: 'x'.repeat(20_000) }])
    assert.deepEqual(await setUp(body), [403, 'setup_completed'])
})

test('422 for sign-in with JSON, naming the form; 401 with the header for wrong credentials', async () => {
  await using it = await start()
  const json = await it.send('POST', '/api/token', '', { username: 'admin', password })
  assert.equal(json.status, 422)
  assert.match(JSON.stringify(json.json.detail), /x-www-form-urlencoded/)
  const wrong = await it.form({ username: 'admin', password: 'wrong' })
  assert.deepEqual(refusal(wrong), [401, 'invalid_credentials'])
  assert.equal(wrong.headers['www-authenticate'], 'Bearer')
  assert.deepEqual(refusal(await it.form({ username: 'admin' })), [422, 'validation_error'])
  assert.equal((await it.form({ username: 'admin', password, grant_type: 'password' })).status, 200)
})

test('429 with the time to wait after five failures', async () => {
  await using it = await start()
  for (let i = 0; i < 5; i++) await it.form({ username: 'admin', password: 'wrong' })
  const locked = await it.form({ username: 'admin', password })
  assert.deepEqual(refusal(locked), [429, 'too_many_attempts'])
  assert.deepEqual([locked.json.retry_after_seconds, locked.headers['retry-after']], [900, '900'])
})

test('401 without a credential, and from the next request after logout', async () => {
  await using it = await start()
  const token = await it.signIn()
  const routes = [
    ['GET', '/api/auth/validate'],
    ['GET', '/api/users/me'],
    ['PUT', '/api/users/me/email'],
    ['PUT', '/api/users/me/password'],
    ['GET', '/api/mcp/keys'],
    ['POST', '/api/mcp/keys'],
    ['POST', '/api/mcp/keys/ensure-default'],
    ['GET', '/api/mcp/keys/x'],
    ['POST', '/api/mcp/keys/x/revoke'],
    ['DELETE', '/api/mcp/keys/x'],
    ['POST', '/api/mcp/validate'],
    ['POST', '/api/auth/logout'],
  ] as const
  for (const [method, url] of routes)
    assert.deepEqual(refusal(await it.send(method, url)), [401, 'not_authenticated'], url)
  assert.deepEqual((await it.send('POST', '/api/auth/logout', token)).json, { status: 'logged_out' })
  for (const [method, url] of routes)
    if (url !== '/api/auth/logout')
      assert.deepEqual(refusal(await it.send(method, url, token)), [401, 'invalid_token'], url)
  // A second logout is not an error and does not revive the session.
  assert.deepEqual((await it.send('POST', '/api/auth/logout', token)).json, { status: 'logged_out' })
  assert.equal((await it.send('GET', '/api/users/me', token)).status, 401)
})

test('a key is minted, listed without its text, checked, revoked and deleted', async () => {
  await using it = await start()
  const token = await it.signIn()
  const created = await it.send('POST', '/api/mcp/keys', token, { name: ' laptop ' })
  const { id, key, name, scope } = created.json
  assert.deepEqual([created.status, name, scope, created.json.api_key], [200, 'laptop', 'user', key])
  const checked = await it.send('POST', '/api/mcp/validate', key)
  assert.deepEqual(checked.json, {
    valid: true,
    key_id: id,
    key_name: 'laptop',
    scope: 'user',
    user_id: created.json.user_id,
    user_email: null,
    role: 'admin',
    agent_name: null,
  })
  assert.deepEqual((await it.send('GET', '/api/auth/validate', key)).json.scope, 'user')
  const list = await it.send('GET', '/api/mcp/keys?all=true', key)
  assert.deepEqual(
    list.json.map((row: { id: string; usage_count: number }) => [row.id, row.usage_count]),
    [[id, 3]],
  )
  assert.ok(!JSON.stringify(list.json).includes(key))
  assert.deepEqual((await it.send('POST', `/api/mcp/keys/${id}/revoke`, token)).json, {
    message: 'The key is revoked.',
    id,
    is_active: false,
  })
  assert.deepEqual(refusal(await it.send('POST', '/api/mcp/validate', key)), [401, 'invalid_token'])
  assert.equal((await it.send('GET', `/api/mcp/keys/${id}`, token)).json.is_active, false)
  assert.deepEqual((await it.send('DELETE', `/api/mcp/keys/${id}`, token)).json, {
    message: 'The key is deleted.',
    id,
  })
  assert.deepEqual(refusal(await it.send('GET', `/api/mcp/keys/${id}`, token)), [404, 'key_not_found'])
})

test('scopes: 400 for unknown and foreign ones, 403 for a key that asks for more, 422 for bad ends', async () => {
  await using it = await start()
  const token = await it.signIn()
  const user = (await it.send('POST', '/api/mcp/keys', token, { name: 'k' })).json.key
  const ask = async (credential: string, body: object) => {
    const reply = await it.send('POST', '/api/mcp/keys', credential, { name: 'k', ...body })
    return reply.status === 200 ? [200, reply.json.scope] : refusal(reply)
  }
  assert.deepEqual(await ask(token, { scope: 'root' }), [400, 'unknown_scope'])
  for (const scope of ['agent', 'system', 'connector'])
    assert.deepEqual(await ask(token, { scope }), [400, 'scope_not_requestable'])
  assert.deepEqual(await ask(user, { scope: 'user' }), [200, 'user'])
  for (const scope of ['ops', 'portal_delegate']) {
    assert.deepEqual(await ask(user, { scope }), [403, 'human_only'])
    assert.deepEqual(await ask(token, { scope, expires_at: '2030-02-01T00:00:00+02:00' }), [200, scope])
    assert.deepEqual(await ask(token, { scope, expires_at: '2029-01-01T00:00:00Z' }), [
      422,
      'validation_error',
    ])
  }
  assert.deepEqual(await ask(token, { scope: 'user', expires_at: null }), [200, 'user'])
  for (const body of [
    { expires_at: '2031-01-01T00:00:00Z' },
    { scope: 'ops', expires_at: 'tomorrow' },
    { name: '' },
    { name: '   ' },
    { name: 'x'.repeat(101) },
    { name: 7 },
    { description: 'x'.repeat(501) },
    { scope: 1 },
    { scope: null },
  ])
    assert.deepEqual(await ask(token, body), [422, 'validation_error'], JSON.stringify(body))
})

test('403 for keys on human-only routes, and for fenced keys on routes that do not list their scope', async () => {
  await using it = await start()
  const token = await it.signIn()
  const mint = async (scope: string) =>
    (await it.send('POST', '/api/mcp/keys', token, { name: 'k', scope })).json.key
  const user = await mint('user')
  for (const [method, url] of [
    ['PUT', '/api/users/me/email'],
    ['PUT', '/api/users/me/password'],
    ['POST', '/api/mcp/keys/ensure-default'],
  ] as const)
    assert.deepEqual(refusal(await it.send(method, url, user)), [403, 'human_only'])
  for (const fenced of [await mint('ops'), await mint('portal_delegate')])
    for (const [method, url] of [
      ['GET', '/api/auth/validate'],
      ['GET', '/api/users/me'],
      ['POST', '/api/auth/logout'],
      ['GET', '/api/mcp/keys'],
      ['POST', '/api/mcp/keys'],
      ['POST', '/api/mcp/validate'],
      ['PUT', '/api/users/me/password'],
    ] as const)
      assert.deepEqual(refusal(await it.send(method, url, fenced)), [403, 'scope_not_allowed'], url)
})

test('an agent key can read its owner and its agent, but no keys', async () => {
  await using it = await start()
  const token = await it.signIn()
  const me = (await it.send('GET', '/api/users/me', token)).json
  it.agents.set('agent-1', 'scout')
  const { key } = await it.db.atomically((tx) =>
    it.keys.mintAgentKey(tx, { agentId: 'agent-1', ownerId: me.id, name: 'scout' }),
  )
  const checked = (await it.send('POST', '/api/mcp/validate', key)).json
  assert.deepEqual([checked.scope, checked.agent_name, checked.user_id], ['agent', 'scout', me.id])
  assert.equal((await it.send('GET', '/api/users/me', key)).json.id, me.id)
  for (const [method, url] of [
    ['GET', '/api/mcp/keys'],
    ['POST', '/api/mcp/keys'],
    ['GET', '/api/mcp/keys/x'],
    ['POST', '/api/mcp/keys/x/revoke'],
    ['DELETE', '/api/mcp/keys/x'],
  ] as const)
    assert.deepEqual(refusal(await it.send(method, url, key)), [403, 'scope_not_allowed'])
})

test('401 for a session where a key is required', async () => {
  await using it = await start()
  const reply = await it.send('POST', '/api/mcp/validate', await it.signIn())
  assert.deepEqual(refusal(reply), [401, 'invalid_token'])
})

test('the default key is shown once', async () => {
  await using it = await start()
  const token = await it.signIn()
  const first = (await it.send('POST', '/api/mcp/keys/ensure-default', token)).json
  assert.match(first.key, /^svc_mcp_/)
  const again = (await it.send('POST', '/api/mcp/keys/ensure-default', token)).json
  assert.deepEqual(again, { id: first.id, name: 'Default', key: null })
})

test('an admin changes address and password; others cannot change their address', async () => {
  await using it = await start()
  const token = await it.signIn()
  const email = await it.send('PUT', '/api/users/me/email', token, { email: 'Root@Example.com' })
  assert.deepEqual(email.json, { success: true, email: 'root@example.com' })
  assert.equal((await it.send('GET', '/api/users/me', token)).json.email, 'root@example.com')
  const other = await it.addUser('creator', 'ann@example.com')
  const conflict = await it.send('PUT', '/api/users/me/email', token, { email: 'ann@example.com' })
  assert.deepEqual(refusal(conflict), [409, 'already_exists'])
  const { access_token } = await it.sessions.issue(other, { mode: 'email' })
  const foreign = await it.send('PUT', '/api/users/me/email', access_token, { email: 'bob@example.com' })
  assert.deepEqual(refusal(foreign), [403, 'admin_required'])
  const change = { current_password: password, new_password: 'another good one' }
  assert.deepEqual((await it.send('PUT', '/api/users/me/password', token, change)).json, { success: true })
  assert.deepEqual(refusal(await it.send('PUT', '/api/users/me/password', token, change)), [
    401,
    'invalid_credentials',
  ])
})
