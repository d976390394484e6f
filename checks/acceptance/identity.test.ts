/** Setup, sign-in, sessions and the headers of every reply. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adminPassword, type Platform, signIn, startPlatform } from './platform.ts'
import { assertShape } from './steps.ts'

let platform: Platform
before(async () => {
  platform = await startPlatform({ password: false })
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const open = { token: null }
const tokenRequest = (form: Record<string, string>, headers: Record<string, string> = {}) =>
  platform.request('POST', '/api/token', new URLSearchParams(form).toString(), {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

test('before setup: available, and sign-in is refused', async () => {
  const status = await platform.request('GET', '/api/setup/status', undefined, open)
  assert.deepEqual(status.json, { setup_completed: false, setup_available: true })
  const mode = await platform.request('GET', '/api/auth/mode', undefined, open)
  assert.deepEqual(mode.json, {
    email_auth_enabled: false,
    setup_completed: false,
    public_access_requests_enabled: false,
  })
  const refused = await tokenRequest({ username: 'admin', password: adminPassword })
  assert.equal(refused.status, 401)
  assert.equal(refused.json.error, 'setup_required')
})

test('a password that is too short, too long or not confirmed is refused', async () => {
  for (const [body, error] of [
    [{ password: 'eleven char' }, 'weak_password'],
    [{ password: 'x'.repeat(129) }, 'weak_password'],
    [{ password: adminPassword, confirm_password: `${adminPassword}!` }, 'password_mismatch'],
  ] as const) {
    const reply = await platform.request('POST', '/api/setup/admin-password', body, open)
    assert.deepEqual([reply.status, reply.json.error], [400, error])
  }
})

test('of twenty concurrent setups one succeeds, and its password is valid', async () => {
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      platform.request('POST', '/api/setup/admin-password', { password: `${adminPassword} ${index}` }, open),
    ),
  )
  const winners = replies.flatMap((reply, index) => (reply.status === 200 ? [index] : []))
  assert.equal(winners.length, 1)
  assert.deepEqual(replies[winners[0] ?? 0]?.json, { success: true, email_registered: false })
  for (const reply of replies.filter(({ status }) => status !== 200))
    assert.deepEqual([reply.status, reply.json.error], [403, 'setup_completed'])
  const reply = await tokenRequest({ username: 'admin', password: `${adminPassword} ${winners[0]}` })
  assert.equal(reply.status, 200)
  platform.token = reply.json.access_token
  const changed = await platform.request('PUT', '/api/users/me/password', {
    current_password: `${adminPassword} ${winners[0]}`,
    new_password: adminPassword,
  })
  assert.equal(changed.status, 200, changed.text)
})

test('a token is an HS256 JWT of seven days with its claims', async () => {
  const reply = await tokenRequest({ username: 'admin', password: adminPassword })
  assert.equal(reply.json.token_type, 'bearer')
  const [header, claims] = (reply.json.access_token as string)
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
  assert.equal(header.alg, 'HS256')
  assert.equal(claims.exp - claims.iat, 7 * 24 * 3600)
  assertShape(claims, { sub: 'string', jti: 'string', mode: 'string', epoch: 'string' }, 'claims')
  assert.equal(claims.sub, 'admin')
})

test('validate and me return the same person', async () => {
  const validated = await platform.request('GET', '/api/auth/validate')
  assert.equal(validated.json.status, 'valid')
  const me = await platform.request('GET', '/api/users/me')
  assert.deepEqual(validated.json.user, me.json)
  const shape = { id: 'string', username: 'string', role: 'string', mfa_enrolled: 'boolean' }
  assertShape(me.json, { ...shape, created_at: 'string', last_login_at: 'string?', email: 'string?' }, 'me')
  assert.equal(me.json.role, 'admin')
})

test('logout ends this session immediately and leaves the others', async () => {
  const [one, other] = [await signIn(platform), await signIn(platform)]
  const reply = await platform.request('POST', '/api/auth/logout', undefined, { token: one })
  assert.deepEqual(reply.json, { status: 'logged_out' })
  const refused = await platform.request('GET', '/api/auth/validate', undefined, { token: one })
  assert.deepEqual([refused.status, refused.json.error], [401, 'invalid_token'])
  assert.equal(refused.headers.get('www-authenticate'), 'Bearer')
  assert.equal((await platform.request('GET', '/api/users/me', undefined, { token: other })).status, 200)
})

test('altered, unsigned and foreign-signed tokens are refused', async () => {
  const [header = '', claims = '', signature = ''] = (await signIn(platform)).split('.')
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
  const forged = Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), sub: 'root' }),
  ).toString('base64url')
  for (const token of [
    `${none}.${claims}.`,
    `${none}.${claims}.${signature}`,
    `${header}.${forged}.${signature}`,
    `${header}.${claims}.${signature.split('').reverse().join('')}`,
    'svc_mcp_0000000000000000000000000000000000000000000',
  ]) {
    const reply = await platform.request('GET', '/api/users/me', undefined, { token })
    assert.deepEqual([reply.status, reply.json.error], [401, 'invalid_token'], token)
  }
})

test('every reply has a request id: the sent one if it is valid, else a new one', async () => {
  const idOf = async (sent: string) =>
    (await platform.request('GET', '/health', undefined, { headers: { 'x-request-id': sent } })).headers.get(
      'x-request-id',
    )
  assert.equal(await idOf('Trace-1._x'), 'Trace-1._x')
  for (const bad of ['has space', 'x'.repeat(129), '<b>']) {
    const received = await idOf(bad)
    assert.notEqual(received, bad)
    assert.match(received ?? '', /^[A-Za-z0-9._-]{1,128}$/)
  }
  const refused = await platform.request('GET', '/api/nothing-here', undefined, open)
  assert.ok(refused.headers.get('x-request-id'))
})

test('health and version describe the running platform', async () => {
  const health = await platform.request('GET', '/health', undefined, open)
  assert.equal(health.json.status, 'healthy')
  const { applied, expected, first_pending } = health.json.migrations
  assert.ok(applied > 0)
  assert.deepEqual([applied, first_pending], [expected, null])
  const version = await platform.request('GET', '/api/version')
  const texts = ['version', 'git_commit_short', 'git_branch', 'git_commit_subject', 'build_date', 'edition']
  assertShape(version.json, Object.fromEntries(texts.map((field) => [field, 'string'])), 'version')
  assert.equal(version.json.platform, 'roost')
  assert.equal(version.json.install_source, 'unknown')
  assert.equal(version.json.edition, 'oss')
  assert.deepEqual(version.json.enterprise_features, [])
  assert.deepEqual(version.json.runtimes, ['claude-code', 'gemini-cli', 'codex'])
  assert.equal((await platform.request('GET', '/api/version', undefined, open)).status, 401)
})

test('the OpenAPI document has the running version, and its page is served', async () => {
  const version = (await platform.request('GET', '/api/version')).json.version
  const document = await platform.request('GET', '/openapi.json', undefined, open)
  assert.equal(document.json.info.version, version)
  for (const path of ['/api/token', '/api/agents', '/api/agents/{name}/chat', '/health'])
    assert.ok(document.json.paths[path], path)
  const page = await platform.request('GET', '/docs', undefined, open)
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-type') ?? '', /text\/html/)
})

test('after a restart every session is invalid and setup stays completed', async () => {
  const old = platform.token
  await platform.killApi()
  await platform.startApi()
  assert.equal((await platform.request('GET', '/api/users/me', undefined, { token: old })).status, 401)
  const again = await platform.request('POST', '/api/setup/admin-password', { password: adminPassword }, open)
  assert.deepEqual([again.status, again.json.error], [403, 'setup_completed'])
  platform.token = await signIn(platform)
  assert.equal((await platform.request('GET', '/api/users/me')).status, 200)
})

test('after five wrong passwords further attempts are refused for a while', async () => {
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const reply = await tokenRequest({ username: 'admin', password: `wrong ${attempt}` })
    assert.deepEqual([reply.status, reply.json.error], [401, 'invalid_credentials'])
  }
  const limited = await tokenRequest({ username: 'admin', password: adminPassword })
  assert.equal(limited.status, 429)
  assert.ok(['too_many_attempts', 'rate_limited'].includes(limited.json.error), limited.text)
  assert.ok(Number(limited.headers.get('retry-after')) > 0)
  assert.equal(limited.json.retry_after_seconds, Number(limited.headers.get('retry-after')))
})

test('a client cannot choose the address for which wrong passwords are counted', async () => {
  const statuses: number[] = []
  for (let attempt = 0; attempt < 31; attempt += 1) {
    const headers = { 'x-forwarded-for': `198.51.100.${attempt}`, 'x-real-ip': `198.51.100.${attempt}` }
    const reply = await tokenRequest({ username: `nobody-${attempt}`, password: 'wrong' }, headers)
    statuses.push(reply.status)
  }
  assert.deepEqual([statuses[0], statuses.at(-1)], [401, 429])
})
