/** Every sign-in creates an audit entry of the person who has signed in. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generateSync } from 'otplib'
import { openWorld, password, type World } from './world.ts'

let world: World
before(async () => {
  world = await openWorld({ env: { ROOST_ENTITLEMENTS: 'portal_delegate_exchange' } })
})
after(() => world?.[Symbol.asyncDispose]())

type Entry = {
  event_type: string
  event_action: string
  actor_type: string
  actor_id: string | null
  actor_email: string | null
  target_type: string | null
  target_id: string | null
  status: number
  details: Record<string, unknown>
}

const factor = '/api/enterprise/2fa'
const portal = '/api/enterprise/client-portal/auth'

async function entries(filter: string): Promise<Entry[]> {
  return (await world.ok('GET', `/api/audit-log?${filter}`, { token: world.admin })).entries
}

/** Sends a call and returns its single audit entry, found by request id. */
async function entryOf(method: string, path: string, body: object, token?: string) {
  const id = `call-${Math.random()}`
  const reply = await world.ask(method, path, { token, body, headers: { 'x-request-id': id } })
  const [entry, ...others] = await entries(`request_id=${id}`)
  assert.ok(entry && others.length === 0)
  return { entry, json: JSON.parse(reply.text) }
}

function actor({ actor_type, actor_id, actor_email }: Entry) {
  return { actor_type, actor_id, actor_email }
}

const nobody = { actor_type: 'anonymous', actor_id: null, actor_email: null }

/** The code in the newest mail to an address. */
async function codeFor(email: string, path: string): Promise<string> {
  const before = world.mail.sent.length
  await world.ok('POST', path, { body: { email } })
  const sent = () => world.mail.sent.slice(before).find(({ to }) => to === email)
  // Mail is sent after the response.
  for (let turns = 0; !sent() && turns < 1_000; turns++) await new Promise((done) => setImmediate(done))
  return /\b\d{6}\b/.exec(sent()?.text ?? '')?.[0] ?? assert.fail('no code')
}

test('setup and password: the actor is the admin; a wrong password has no actor and names the account', async () => {
  const id = await world.idOf(world.admin)
  const actions = (await entries(`actor_id=${id}&event_type=authentication`)).map(
    ({ event_action }) => event_action,
  )
  assert.deepEqual(actions, ['sign_in', 'set_admin_password'])
  await world.ask('POST', '/api/token', { form: { username: 'admin', password: 'wrong' } })
  await world.ask('POST', '/api/token', { form: { username: 'not-a-user', password } })
  const [unknown, wrong] = await entries('actor_type=anonymous&event_action=sign_in')
  assert.ok(wrong && unknown)
  assert.deepEqual([wrong.target_type, wrong.target_id, wrong.status], ['user', 'admin', 401])
  // A mistyped user name may be a password, so it is not logged.
  assert.ok(!JSON.stringify(unknown).includes('not-a-user'))
})

test('email code: the actor is the person; a wrong code has no actor and names the address', async () => {
  const email = 'mail@example.org'
  await world.person(email, 'user')
  const path = '/api/auth/email/verify'
  const code = await codeFor(email, '/api/auth/email/request')
  const wrong = await entryOf('POST', path, { email, code: code === '111111' ? '222222' : '111111' })
  assert.deepEqual(actor(wrong.entry), nobody)
  assert.deepEqual([wrong.entry.details.email, wrong.entry.status], [email, 401])
  const { entry, json } = await entryOf('POST', path, { email, code })
  const person = { actor_type: 'user', actor_id: json.user.id, actor_email: email }
  assert.deepEqual(actor(entry), person)
  assert.deepEqual([entry.target_type, entry.target_id], ['user', email])
  const own = await entries(`actor_id=${json.user.id}&event_type=authentication`)
  assert.equal(own.length, 2, 'one of world.person, one of this test')
})

test('second factor: the first step has no actor, enrolment and second step have the person', async () => {
  const email = 'second@example.org'
  const token = await world.person(email, 'operator')
  const person = { actor_type: 'user', actor_id: await world.idOf(token), actor_email: email }
  const policy = { required_roles: ['operator'] }
  await world.ok('PUT', `${factor}/policy`, { token: world.admin, body: policy })
  const firstStep = async () => {
    const code = await codeFor(email, '/api/auth/email/request')
    const { entry, json } = await entryOf('POST', '/api/auth/email/verify', { email, code })
    assert.deepEqual([actor(entry), entry.details.mfa_required], [nobody, true])
    return { challenge_token: json.challenge_token }
  }
  const challenge = await firstStep()
  const started = await entryOf('POST', `${factor}/login/enroll/start`, challenge)
  assert.deepEqual([actor(started.entry), started.entry.target_id], [nobody, email])
  const totp = () =>
    generateSync({ secret: started.json.secret, epoch: Math.floor(world.clock.now().getTime() / 1000) })
  const confirm = await entryOf('POST', `${factor}/login/enroll/confirm`, { ...challenge, code: totp() })
  assert.deepEqual(actor(confirm.entry), person)

  await world.clock.advance(30)
  const secondChallenge = await firstStep()
  const wrong = await entryOf('POST', `${factor}/login/verify`, { ...secondChallenge, code: 'nonsense' })
  assert.deepEqual([actor(wrong.entry), wrong.entry.target_id, wrong.entry.status], [nobody, email, 401])
  const verified = await entryOf('POST', `${factor}/login/verify`, { ...secondChallenge, code: totp() })
  assert.deepEqual(actor(verified.entry), person)
})

test('Workspace: the actor is the person, with or without an account; for an exchange it is the key', async () => {
  const owner = await world.person('owner@example.org', 'creator')
  await world.makeAgent(owner, 'scout')
  const known = 'known@example.org'
  const account = await world.idOf(await world.person(known, 'user'))
  const stranger = 'stranger@example.org'
  const unproved = 'unproved@example.org'
  await world.ok('PUT', '/api/users/me/email', { token: world.admin, body: { email: unproved } })
  for (const email of [known, stranger, unproved])
    await world.ok('POST', '/api/agents/scout/share', { token: owner, body: { email } })
  for (const [email, id] of [
    [known, account],
    [stranger, null],
    [unproved, null],
  ] as const) {
    const person = { actor_type: 'user', actor_id: id, actor_email: email }
    const code = await codeFor(email, `${portal}/request`)
    const { entry, json } = await entryOf('POST', `${portal}/verify`, { email, code })
    assert.deepEqual(actor(entry), person)
    // Later calls of the session have the same actor.
    const logout = await entryOf('POST', `${portal}/logout`, {}, json.token)
    assert.deepEqual(actor(logout.entry), person)
  }
  const key = (await world.mint(world.admin, { name: 'portal', scope: 'portal_delegate' })).key
  const { entry } = await entryOf('POST', `${portal}/exchange`, { email: known }, key)
  assert.deepEqual([entry.actor_type, entry.target_type, entry.target_id], ['mcp_client', 'user', known])
  const about = await entries(`target_type=user&target_id=${known}&event_type=authentication`)
  assert.equal(about.length, 3, 'sign-in by mail, Workspace sign-in, exchange')
})
