import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSync } from 'otplib'
import { createGuard } from '../../http/guard.ts'
import { createServer } from '../../http/serve.ts'
import { silentLog } from '../../ports/log.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { refuseAfter, refuseBefore } from '../access/index.ts'
import { emailLoginRoutes } from '../email-login/index.ts'
import { createGitTokens, gitTokenRoutes } from '../git-tokens/index.ts'
import { keyRoutes } from '../keys/index.ts'
import { createPreferences, preferenceRoutes } from '../preferences/index.ts'
import { factorRoutes } from '../second-factor/index.ts'
import { sessionRoutes } from '../sessions/index.ts'
import { allowListRoutes, peopleRoutes, userRoutes } from '../users/index.ts'
import { closing, openIdentity } from './fixture.ts'

const password = 'correct horse battery'
const email = 'ann@example.com'

/** The routes of this area behind the real guard; responses are checked against the contracts. */
async function start() {
  const db = await openTestDatabase()
  const it = closing(await openIdentity(db), db)
  const { clock, vault } = it
  const server = createServer({
    routes: [
      ...sessionRoutes(it.sessions, it.devices),
      ...emailLoginRoutes(it.emailLogin, it.sessions, it.devices),
      ...factorRoutes(it.secondFactor),
      ...userRoutes(it.users),
      ...peopleRoutes(it.people),
      ...allowListRoutes(it.allowList),
      ...preferenceRoutes(createPreferences({ db, clock })),
      ...gitTokenRoutes(createGitTokens({ db, clock, vault, hasGlobal: () => true })),
      ...keyRoutes(it.keys),
    ],
    guard: createGuard({ identify: it.identify, agentAccess: async () => null, refuseBefore, refuseAfter }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
  })
  const send = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, token = '', body?: unknown) => {
    const form = body instanceof URLSearchParams
    const type = form ? 'application/x-www-form-urlencoded' : 'application/json'
    const reply = await server.inject({
      method,
      url,
      headers: {
        'x-request-id': 'r1',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { payload: form ? body.toString() : JSON.stringify(body) }),
    })
    return { status: reply.statusCode, json: reply.json(), text: reply.body }
  }
  const signIn = () => send('POST', '/api/token', '', new URLSearchParams({ username: 'admin', password }))
  await send('POST', '/api/setup/admin-password', '', { password })
  const { access_token: admin } = (await signIn()).json
  return {
    ...it,
    send,
    signIn,
    admin,
    totp: (secret: string) => generateSync({ secret, epoch: clock.now().getTime() / 1000 }),
    async code(): Promise<string> {
      await send('POST', '/api/auth/email/request', '', { email })
      await it.emailLogin.settled()
      return /\b\d{6}\b/.exec(it.mail.sent.at(-1)?.text ?? '')?.[0] ?? assert.fail('no mail')
    },
  }
}

const refusal = ({ status, json }: { status: number; json: { error: string } }) => [status, json.error]
const list = '/api/settings/email-whitelist'

test('an address is listed, requests a code, signs in and appears in the list of users', async () => {
  await using it = await start()
  const entry = await it.send('POST', list, it.admin, { email: ' Ann@Example.com' })
  assert.deepEqual([entry.status, entry.json.email, entry.json.source], [201, email, 'manual'])
  assert.deepEqual([entry.json.added_by, entry.json.default_role], ['admin', 'user'])
  assert.deepEqual(refusal(await it.send('POST', list, it.admin, { email })), [409, 'already_exists'])
  assert.deepEqual((await it.send('GET', list, it.admin)).json, [entry.json])
  const code = await it.code()
  const { status, json } = await it.send('POST', '/api/auth/email/verify', '', { email, code })
  assert.deepEqual(
    [status, Object.keys(json), json.user.username],
    [200, ['access_token', 'token_type', 'user'], email],
  )
  const people = await it.send('GET', '/api/users', it.admin)
  const shown = people.json.find((each: { username: string }) => each.username === email)
  assert.deepEqual(shown, { ...json.user, suspended_at: null })
  const removed = await it.send('DELETE', `${list}/Ann%40example.com`, it.admin)
  assert.deepEqual([removed.status, removed.json.email], [200, email])
  assert.deepEqual(refusal(await it.send('DELETE', `${list}/${email}`, it.admin)), [404, 'not_found'])
})

test('a code request has one response, byte for byte; a failed verification too', async () => {
  await using it = await start()
  await it.send('POST', list, it.admin, { email })
  const ask = (address: string) => it.send('POST', '/api/auth/email/request', '', { email: address })
  const replies = [await ask(email), await ask('nobody@example.com')]
  for (let i = 0; i < 4; i++) replies.push(await ask(email))
  assert.equal(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size, 1)
  const verify = (body: object) => it.send('POST', '/api/auth/email/verify', '', body)
  const refusals = [
    await verify({ email, code: '12345' }),
    await verify({ email: 'nobody@example.com', code: '123456' }),
  ]
  assert.equal(new Set(refusals.map(({ status, text }) => `${status} ${text}`)).size, 1)
  assert.deepEqual(refusals.map(refusal), [
    [401, 'invalid_code'],
    [401, 'invalid_code'],
  ])
  for (const body of [{}, { email: 'nobody', code: '123456' }, { email, code: 123456 }, { email, code: '' }])
    assert.deepEqual(refusal(await verify(body)), [422, 'validation_error'], JSON.stringify(body))
})

test('the three outcomes of a password: 200 with a session, 403 with a challenge, 401 with neither', async () => {
  await using it = await start()
  assert.deepEqual(Object.keys((await it.signIn()).json), ['access_token', 'token_type'])
  const policy = await it.send('PUT', '/api/enterprise/2fa/policy', it.admin, { required_roles: ['admin'] })
  assert.deepEqual(policy.json, { required_roles: ['admin'] })
  const pending = await it.signIn()
  const { challenge_token, ...body } = pending.json
  assert.equal(pending.status, 403)
  assert.deepEqual(body, {
    detail: 'mfa_required',
    error: 'mfa_required',
    mfa_required: true,
    mfa_enrolled: false,
    enrollment_required: true,
    request_id: 'r1',
    docs_url: '/help/errors/mfa_required',
  })
  assert.deepEqual(refusal(await it.send('GET', '/api/users/me', challenge_token)), [401, 'invalid_token'])
  const wrong = await it.send(
    'POST',
    '/api/token',
    '',
    new URLSearchParams({ username: 'admin', password: 'no' }),
  )
  assert.deepEqual(refusal(wrong), [401, 'invalid_credentials'])
  assert.deepEqual(Object.keys(wrong.json).sort(), ['detail', 'docs_url', 'error', 'request_id'])

  const begun = await it.send('POST', '/api/enterprise/2fa/login/enroll/start', '', { challenge_token })
  assert.match(begun.json.qr_svg, /^<svg /)
  assert.match(begun.json.otpauth_uri, /^otpauth:\/\/totp\//)
  const confirm = { challenge_token, code: it.totp(begun.json.secret) }
  const done = await it.send('POST', '/api/enterprise/2fa/login/enroll/confirm', '', confirm)
  assert.equal(done.json.recovery_codes.length, 10)
  assert.equal((await it.send('GET', '/api/users/me', done.json.access_token)).json.mfa_enrolled, true)
  await it.clock.advance(30)
  const again = (await it.signIn()).json
  assert.deepEqual([again.mfa_enrolled, again.enrollment_required], [true, false])
  const verify = { challenge_token: again.challenge_token, code: it.totp(begun.json.secret) }
  const entered = await it.send('POST', '/api/enterprise/2fa/login/verify', '', verify)
  assert.deepEqual(Object.keys(entered.json).sort(), [
    'access_token',
    'recovery_codes_left',
    'token_type',
    'user',
  ])
})

test('a mailed code returns 200 without a session if a second factor is required', async () => {
  await using it = await start()
  await it.send('POST', list, it.admin, { email })
  await it.send('PUT', '/api/enterprise/2fa/policy', it.admin, { required_roles: ['user', 'user'] })
  const reply = await it.send('POST', '/api/auth/email/verify', '', { email, code: await it.code() })
  const { challenge_token, ...body } = reply.json
  assert.equal(reply.status, 200)
  assert.deepEqual(body, { mfa_required: true, mfa_enrolled: false, enrollment_required: true })
  assert.ok(challenge_token)
})

test('the own factor: setup, new recovery codes, removal; an admin resets the factor of others', async () => {
  await using it = await start()
  const base = '/api/enterprise/2fa'
  const { secret } = (await it.send('POST', `${base}/enroll/start`, it.admin)).json
  const bad = await it.send('POST', `${base}/enroll/confirm`, it.admin, { code: 'nonsense' })
  assert.deepEqual(refusal(bad), [401, 'invalid_code'])
  const done = await it.send('POST', `${base}/enroll/confirm`, it.admin, { code: it.totp(secret) })
  assert.deepEqual([done.status, done.json.recovery_codes.length], [200, 10])
  const status = (await it.send('GET', `${base}/status`, it.admin)).json
  assert.deepEqual([status.enrolled, status.required, status.recovery_codes_left], [true, false, 10])
  const [code] = done.json.recovery_codes
  const renewed = await it.send('POST', `${base}/recovery-codes`, it.admin, { code })
  assert.equal(renewed.json.recovery_codes.length, 10)
  const disabled = { code: renewed.json.recovery_codes[0] }
  await it.send('PUT', `${base}/policy`, it.admin, { required_roles: ['admin'] })
  assert.deepEqual(refusal(await it.send('POST', `${base}/disable`, it.admin, disabled)), [
    403,
    'role_required',
  ])
  await it.send('PUT', `${base}/policy`, it.admin, { required_roles: [] })
  assert.deepEqual((await it.send('POST', `${base}/disable`, it.admin, disabled)).json, { success: true })
  assert.deepEqual((await it.send('DELETE', `${base}/users/admin`, it.admin)).json, { success: true })
  assert.deepEqual(refusal(await it.send('DELETE', `${base}/users/nobody`, it.admin)), [404, 'not_found'])
})

test('access: 401 without a credential, 403 for callers other than admins, 403 for keys on human-only routes', async () => {
  await using it = await start()
  await it.send('POST', list, it.admin, { email })
  const verified = await it.send('POST', '/api/auth/email/verify', '', { email, code: await it.code() })
  const ann = verified.json.access_token
  const key = (await it.send('POST', '/api/mcp/keys', it.admin, { name: 'k' })).json.key
  const adminRoutes = [
    ['GET', '/api/users'],
    ['GET', list],
    ['GET', '/api/enterprise/2fa/policy'],
    ['PUT', `/api/users/${email}/role`],
    ['POST', `/api/users/${email}/suspend`],
    ['POST', `/api/users/${email}/unsuspend`],
    ['POST', list],
    ['DELETE', `${list}/x`],
    ['PUT', '/api/enterprise/2fa/policy'],
    ['DELETE', '/api/enterprise/2fa/users/x'],
  ] as const
  for (const [method, url] of adminRoutes) {
    assert.deepEqual(refusal(await it.send(method, url)), [401, 'not_authenticated'], url)
    assert.deepEqual(refusal(await it.send(method, url, ann)), [403, 'admin_required'], url)
  }
  const humanRoutes = [
    ['PUT', '/api/enterprise/2fa/policy'],
    ['DELETE', '/api/enterprise/2fa/users/x'],
    ['GET', '/api/enterprise/2fa/status'],
    ['POST', '/api/enterprise/2fa/enroll/start'],
    ['POST', '/api/enterprise/2fa/disable'],
    ['GET', '/api/users/me/preferences'],
    ['PUT', '/api/users/me/preferences/x'],
    ['GET', '/api/users/me/github-pat'],
    ['PUT', '/api/users/me/github-pat'],
  ] as const
  for (const [method, url] of humanRoutes)
    assert.deepEqual(refusal(await it.send(method, url, key)), [403, 'human_only'], url)
  assert.equal((await it.send('GET', '/api/users', key)).status, 200)
  const role = await it.send('PUT', `/api/users/${email}/role`, key, { role: 'creator' })
  assert.deepEqual([role.status, role.json.role], [200, 'creator'])
  assert.deepEqual(refusal(await it.send('PUT', '/api/users/admin/role', key, { role: 'user' })), [
    403,
    'own_role',
  ])
  const odd = await it.send('PUT', `/api/users/${email}/role`, key, { role: 'root' })
  assert.deepEqual(refusal(odd), [422, 'validation_error'])
  assert.ok((await it.send('POST', `/api/users/${email}/suspend`, it.admin)).json.suspended_at)
  assert.deepEqual(refusal(await it.send('GET', '/api/users/me', ann)), [401, 'invalid_token'])
  assert.equal((await it.send('POST', `/api/users/${email}/unsuspend`, it.admin)).json.suspended_at, null)
})

test('access requests: 403 until an admin enables them', async () => {
  await using it = await start()
  const ask = () => it.send('POST', '/api/access/request', '', { email })
  assert.deepEqual(refusal(await ask()), [403, 'access_requests_disabled'])
  it.switches.accessRequests = true
  assert.equal((await it.send('GET', '/api/auth/mode')).json.public_access_requests_enabled, true)
  const { message: _, ...first } = (await ask()).json
  assert.deepEqual(first, { success: true, already_registered: false })
  assert.equal((await ask()).json.already_registered, true)
})

test('preferences and the git token of a person', async () => {
  await using it = await start()
  const path = '/api/users/me/preferences/table.view'
  const put = (body: object) => it.send('PUT', path, it.admin, body)
  const first = await put({ value: { columns: ['name'] } })
  assert.deepEqual([first.status, first.json.key], [200, 'table.view'])
  assert.deepEqual((await it.send('GET', path, it.admin)).json, first.json)
  const base_updated_at = first.json.updated_at
  assert.equal((await put({ value: 2, base_updated_at })).status, 200)
  const stale = await put({ value: 3, base_updated_at })
  assert.deepEqual([...refusal(stale), stale.json.current.value], [409, 'stale_value', 2])
  assert.deepEqual(refusal(await put({ value: 'x'.repeat(16 * 1024) })), [422, 'validation_error'])
  assert.deepEqual(refusal(await put({})), [422, 'validation_error'])
  assert.equal((await it.send('GET', '/api/users/me/preferences', it.admin)).json.length, 1)
  assert.equal((await it.send('DELETE', path, it.admin)).status, 200)
  assert.deepEqual(refusal(await it.send('GET', path, it.admin)), [404, 'not_found'])

  const pat = '/api/users/me/github-pat'
  const stored = await it.send('PUT', pat, it.admin, { pat: ' ghp_secret ' })
  assert.deepEqual(stored.json, { configured: true, username: null, has_global: true })
  assert.ok(!stored.text.includes('ghp_'))
  assert.deepEqual(refusal(await it.send('PUT', pat, it.admin, { pat: 'two words' })), [
    422,
    'validation_error',
  ])
  assert.equal((await it.send('DELETE', pat, it.admin)).json.configured, false)
  assert.equal((await it.send('GET', pat, it.admin)).json.configured, false)
})
