/** Accounts with a real mail server: sign-in by mail, the second factor, roles and suspension. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import { generateSync } from 'otplib'
import { openLive } from './live.ts'
import { adminPassword, type Platform, startPlatform } from './platform.ts'
import { assertShape } from './steps.ts'

const whitelist = '/api/settings/email-whitelist'
const factor = '/api/enterprise/2fa'
let platform: Platform
let mail: MailServer
before(async () => {
  mail = await startMailServer({ account: { user: 'roost@example.com', password: 'p@ss word' } })
  platform = await startPlatform({ env: { ROOST_MAIL_URL: mail.url } })
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
  await mail?.close()
})

const open = { token: null }
const post = (path: string, body: object, options: object = open) =>
  platform.request('POST', path, body, options)
const allow = async (email: string, default_role = 'user') => {
  const reply = await platform.request('POST', whitelist, { email, default_role })
  assert.equal(reply.status, 201, reply.text)
}
const askForCode = async (email: string): Promise<string> => {
  const reply = await post('/api/auth/email/request', { email })
  assert.equal(reply.status, 200, reply.text)
  const { text } = await mail.next(email)
  return /\b\d{6}\b/.exec(text)?.[0] ?? assert.fail(text)
}
/** The parts that two refusals must share: everything but the request id. */
const refusal = ({ status, text }: { status: number; text: string }) => [
  status,
  text.replace(/"request_id":"[^"]*"/, ''),
]
/** Signs in with a mailed code and returns the session token. */
const signInByMail = async (email: string): Promise<string> => {
  const reply = await post('/api/auth/email/verify', { email, code: await askForCode(email) })
  assert.equal(reply.status, 200, reply.text)
  return reply.json.access_token
}
const signInByPassword = () =>
  platform.request(
    'POST',
    '/api/token',
    new URLSearchParams({ username: 'admin', password: adminPassword }).toString(),
    { token: null, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  )

describe('sign-in by mail', () => {
  test('is offered when mail is configured', async () => {
    const mode = await platform.request('GET', '/api/auth/mode', undefined, open)
    assert.equal(mode.json.email_auth_enabled, true)
    const flags = await platform.request('GET', '/api/settings/feature-flags')
    assert.deepEqual([flags.json.email_login, flags.json.two_factor], [true, true])
  })

  test('request, mail and verification create a person with the role of the allow list', async () => {
    const email = 'ann@example.com'
    await allow(email, 'creator')
    const code = await askForCode(email)
    const sent = mail.received.at(-1)
    assert.equal(sent?.from, 'roost@example.com')
    const reply = await post('/api/auth/email/verify', { email, code })
    assertShape(reply.json, { access_token: 'string', token_type: 'string', user: 'object' }, 'reply')
    assert.deepEqual([reply.json.user.username, reply.json.user.role], [email, 'creator'])
    const me = await platform.request('GET', '/api/users/me', undefined, { token: reply.json.access_token })
    assert.equal(me.json.email, email)
    const again = await post('/api/auth/email/verify', { email, code })
    assert.deepEqual([again.status, again.json.error], [401, 'invalid_code'])
    assert.ok(!platform.output().includes(code), 'no code in the log')
  })

  test('of twenty concurrent uses of one code one succeeds', async () => {
    const email = 'bob@example.com'
    await allow(email)
    const code = await askForCode(email)
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => post('/api/auth/email/verify', { email, code })),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
    for (const { status } of replies) assert.ok([200, 401, 429].includes(status), `${status}`)
  })

  test('an address off the list gets the response of a wrong code, and no mail', async () => {
    const before = mail.received.length
    const known = await post('/api/auth/email/request', { email: 'ann@example.com' })
    const unknown = await post('/api/auth/email/request', { email: 'stranger@example.com' })
    assert.deepEqual([unknown.status, unknown.text], [known.status, known.text])
    await mail.next('ann@example.com')
    assert.deepEqual(
      mail.received.slice(before).flatMap(({ to }) => to),
      ['ann@example.com'],
    )
    const email = 'cid@example.com'
    await allow(email)
    const code = await askForCode(email)
    await platform.request('DELETE', `${whitelist}/${email}`)
    const wrong = await post('/api/auth/email/verify', { email: 'ann@example.com', code: '12345' })
    const removed = await post('/api/auth/email/verify', { email, code })
    assert.deepEqual(refusal(removed), refusal(wrong))
    assert.deepEqual([removed.status, removed.json.error], [401, 'invalid_code'])
  })

  test('a Workspace code does not sign in an address off the list', async () => {
    const [agent, email] = ['qa-doors', 'guest@example.com']
    await post('/api/agents', { name: agent }, {})
    await post(`/api/agents/${agent}/share`, { email }, {})
    await platform.request('DELETE', `${whitelist}/${email}`)
    const portal = '/api/enterprise/client-portal/auth'
    assert.equal((await post(`${portal}/request`, { email })).status, 200)
    const code = /\b\d{6}\b/.exec((await mail.next(email)).text)?.[0]
    const other = await post('/api/auth/email/verify', { email, code })
    const wrong = await post('/api/auth/email/verify', { email: 'ann@example.com', code: '12345' })
    assert.deepEqual(refusal(other), refusal(wrong))
    assert.equal(other.status, 401)
    assert.equal((await post(`${portal}/verify`, { email, code })).status, 200)
  })

  test('guesses get the same responses for known and unknown addresses, up to the limit', async () => {
    await allow('uma@example.com')
    await askForCode('uma@example.com')
    const answers = async (email: string) => {
      const outcomes: [number, string][] = []
      for (let guess = 0; guess < 7; guess += 1) {
        const { status, json } = await post('/api/auth/email/verify', { email, code: 'guess' })
        outcomes.push([status, json.error])
      }
      return outcomes
    }
    const known = await answers('uma@example.com')
    assert.deepEqual(await answers('nobody@example.com'), known)
    assert.deepEqual([known[4]?.[0], known[5]?.[0]], [401, 429])
  })

  test('access requests add an address once an admin enables them', async () => {
    const email = 'dan@example.com'
    const refused = await post('/api/access/request', { email })
    assert.deepEqual([refused.status, refused.json.error], [403, 'access_requests_disabled'])
    await platform.request('PUT', '/api/settings/public_access_requests_enabled', { value: 'true' })
    const reply = await post('/api/access/request', { email })
    assert.deepEqual([reply.status, reply.json.already_registered], [200, false])
    await signInByMail(email)
  })

  test('can be disabled', async () => {
    await platform.request('PUT', '/api/settings/email_auth_enabled', { value: 'false' })
    const refused = await post('/api/auth/email/request', { email: 'ann@example.com' })
    assert.deepEqual([refused.status, refused.json.error], [403, 'email_login_disabled'])
    await platform.request('DELETE', '/api/settings/email_auth_enabled')
  })
})

describe('suspension', () => {
  test('ends session, key and open sockets immediately; for good, and the key until the suspension ends', async () => {
    const email = 'eve@example.com'
    await allow(email)
    const token = await signInByMail(email)
    const minted = await platform.request('POST', '/api/mcp/keys', { name: 'laptop' }, { token })
    const key: string = minted.json.key
    const ticket = await platform.request('POST', '/api/ws/ticket', undefined, { token })
    const sockets = [`/ws?ticket=${ticket.json.ticket}`, `/ws/events?token=${key}`].map((path) =>
      openLive(platform, path),
    )
    for (const socket of sockets) await socket.next('connected')
    const statuses = () =>
      Promise.all(
        [token, key].map(
          async (each) => (await platform.request('GET', '/api/users/me', undefined, { token: each })).status,
        ),
      )
    assert.deepEqual(await statuses(), [200, 200])
    const suspended = await platform.request('POST', `/api/users/${email}/suspend`)
    assert.equal(suspended.status, 200, suspended.text)
    assert.deepEqual(await statuses(), [401, 401])
    assert.deepEqual(await Promise.all(sockets.map(({ closed }) => closed)), [4001, 4001])
    const late = await post('/api/auth/email/verify', { email, code: await askForCode(email) })
    assert.deepEqual([late.status, late.json.error], [403, 'account_suspended'])
    await platform.request('POST', `/api/users/${email}/unsuspend`)
    assert.deepEqual(await statuses(), [401, 200])
  })

  test('403 own_role when a person suspends or demotes themselves', async () => {
    for (const [method, path, body] of [
      ['PUT', '/api/users/admin/role', { role: 'user' }],
      ['POST', '/api/users/admin/suspend', undefined],
    ] as const) {
      const reply = await platform.request(method, path, body)
      assert.deepEqual([reply.status, reply.json.error], [403, 'own_role'])
    }
  })

  test('a new role applies to the next request', async () => {
    const email = 'fay@example.com'
    await allow(email)
    const token = await signInByMail(email)
    const list = () => platform.request('GET', '/api/users', undefined, { token })
    assert.equal((await list()).status, 403)
    await platform.request('PUT', `/api/users/${email}/role`, { role: 'admin' })
    assert.equal((await list()).status, 200)
    await platform.request('PUT', `/api/users/${email}/role`, { role: 'user' })
    assert.equal((await list()).status, 403)
  })
})

describe('the second factor', () => {
  test('a policy makes the admin enrol at sign-in, and then requires the factor', async () => {
    const stored = await platform.request('PUT', `${factor}/policy`, { required_roles: ['admin'] })
    assert.deepEqual(stored.json, { required_roles: ['admin'] })
    const pending = await signInByPassword()
    const { challenge_token, request_id: _, ...rest } = pending.json
    assert.equal(pending.status, 403)
    assert.deepEqual(rest, {
      detail: 'mfa_required',
      error: 'mfa_required',
      docs_url: '/help/errors/mfa_required',
      mfa_required: true,
      mfa_enrolled: false,
      enrollment_required: true,
    })
    const session = await platform.request('GET', '/api/users/me', undefined, { token: challenge_token })
    assert.equal(session.status, 401, 'a challenge token must not work as a session')

    const started = await post(`${factor}/login/enroll/start`, { challenge_token })
    assertShape(
      started.json,
      { secret: 'string', otpauth_uri: 'string', qr_svg: 'string', challenge_token: 'string' },
      'enrolment',
    )
    const code = totp(started.json.secret)
    const done = await post(`${factor}/login/enroll/confirm`, { challenge_token, code })
    assert.equal(done.status, 200, done.text)
    assert.equal(done.json.recovery_codes.length, 10)
    assert.equal(done.json.user.mfa_enrolled, true)

    const second = await signInByPassword()
    assert.deepEqual([second.json.mfa_enrolled, second.json.enrollment_required], [true, false])
    const verify = (presented: string, token: string = second.json.challenge_token) =>
      post(`${factor}/login/verify`, { challenge_token: token, code: presented })
    const used = await verify(code)
    assert.deepEqual([used.status, used.json.error], [401, 'invalid_code'], 'a used code')
    const [recovery] = done.json.recovery_codes
    const entered = await verify(recovery)
    assert.equal(entered.status, 200, entered.text)
    assert.equal(entered.json.recovery_codes_left, 9)
    const closed = await verify(done.json.recovery_codes[1])
    assert.deepEqual([closed.status, closed.json.error], [401, 'challenge_expired'], 'one session each')
    assert.ok(!platform.output().includes(started.json.secret), 'no secret in the log')
  })

  test('a valid email code keeps 200 but opens no session', async () => {
    await platform.request('PUT', `${factor}/policy`, { required_roles: ['user', 'admin'] })
    const email = 'gus@example.com'
    await allow(email)
    const reply = await post('/api/auth/email/verify', { email, code: await askForCode(email) })
    const { challenge_token, ...rest } = reply.json
    assert.equal(reply.status, 200)
    assert.deepEqual(rest, { mfa_required: true, mfa_enrolled: false, enrollment_required: true })
    assert.equal(typeof challenge_token, 'string')
    await platform.request('PUT', `${factor}/policy`, { required_roles: [] })
    const reset = await platform.request('DELETE', `${factor}/users/admin`)
    assert.deepEqual(reset.json, { success: true })
    assert.equal((await signInByPassword()).status, 200)
  })
})

function totp(secret: string): string {
  return generateSync({ secret })
}
