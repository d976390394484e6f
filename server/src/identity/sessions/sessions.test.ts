import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import { forEachDialect } from '../../test/dialects.ts'
import type { SignedIn } from '../access/index.ts'
import { closing, createWorld, type Identity, openIdentity } from '../test/fixture.ts'

const password = 'correct horse battery'
const ip = '192.0.2.1'

const faultOf = async (work: Promise<unknown>) => {
  try {
    await work
    return 'none'
  } catch (error) {
    if (isFault(error)) return error.code
    throw error
  }
}

const signIn = (it: Pick<Identity, 'sessions'>, change: { username?: string; password?: string } = {}) =>
  it.sessions.signIn({ username: 'admin', password, ip, ...change }).then((reply) => reply.access_token)

const callerOf = async (it: Pick<Identity, 'identify'>, token: string): Promise<SignedIn> => {
  const caller = await it.identify(`Bearer ${token}`)
  assert.ok(caller.kind !== 'anonymous')
  return caller
}

const assertRefused = async (it: Pick<Identity, 'identify'>, token: string, why?: string) =>
  assert.equal(await faultOf(it.identify(`Bearer ${token}`)), 'invalid_token', why)

forEachDialect((_name, open) => {
  async function start(email: string | null = null) {
    const db = await open()
    const identity = await openIdentity(db)
    await identity.sessions.setUp({ password, email }, ip)
    return closing(identity, db)
  }

  test('setup: available until an admin exists', async () => {
    await using db = await open()
    await using it = await openIdentity(db)
    assert.deepEqual(await it.sessions.setupStatus(), { setup_completed: false, setup_available: true })
    assert.equal(await faultOf(signIn(it)), 'setup_required')
    const { userId } = await it.sessions.setUp({ password, email: 'root@example.com' }, ip)
    assert.deepEqual(await it.sessions.setupStatus(), { setup_completed: true, setup_available: false })
    const { user } = await callerOf(it, await signIn(it))
    assert.deepEqual(
      [user.id, user.username, user.email, user.role],
      [userId, 'admin', 'root@example.com', 'admin'],
    )
  })

  test('setup: of twenty concurrent requests one succeeds', async () => {
    await using db = await open()
    await using it = await openIdentity(db)
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => faultOf(it.sessions.setUp({ password: `${password} ${i}` }, ip))),
    )
    assert.deepEqual(outcomes.toSorted(), ['none', ...Array(19).fill('setup_completed')])
    const winner = outcomes.indexOf('none')
    await callerOf(it, await signIn(it, { password: `${password} ${winner}` }))
  })

  test('setup: one request succeeds across two processes', async () => {
    await using db = await open()
    const world = createWorld()
    await using first = await openIdentity(db, world)
    await using again = await db.openAgain()
    await using second = await openIdentity(again, world)
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        faultOf((i % 2 ? first : second).sessions.setUp({ password }, ip)),
      ),
    )
    assert.equal(outcomes.filter((outcome) => outcome === 'none').length, 1)
  })

  test('setup: a weak or misspelt password creates no admin', async () => {
    await using db = await open()
    await using it = await openIdentity(db)
    const { setUp, setupStatus } = it.sessions
    assert.equal(await faultOf(setUp({ password: 'x'.repeat(11) }, ip)), 'weak_password')
    assert.equal(await faultOf(setUp({ password: 'x'.repeat(129) }, ip)), 'weak_password')
    assert.equal(
      await faultOf(setUp({ password, confirm_password: `${password}!` }, ip)),
      'password_mismatch',
    )
    assert.equal((await setupStatus()).setup_completed, false)
    assert.equal(await faultOf(setUp({ password, confirm_password: password }, ip)), 'none')
    assert.equal(await faultOf(setUp({ password: 'short' }, ip)), 'setup_completed')
  })

  test('setup: refused while an admin can sign in by e-mail', async () => {
    await using db = await open()
    await using it = await openIdentity(db)
    const admin = await it.addUser('admin')
    assert.equal(await faultOf(it.sessions.setUp({ password }, ip)), 'setup_completed')
    await it.changeUser(admin.id, { role: 'creator' })
    assert.equal(await faultOf(it.sessions.setUp({ password, email: admin.email }, ip)), 'already_exists')
    assert.equal((await it.sessions.setupStatus()).setup_completed, false)
    assert.equal(await faultOf(it.sessions.setUp({ password }, ip)), 'none')
  })

  test('sign-in: by name or registered address, case-insensitive', async () => {
    await using it = await start('root@example.com')
    for (const username of ['admin', 'Admin', ' admin ', 'root@example.com', 'ROOT@Example.com'])
      assert.equal((await callerOf(it, await signIn(it, { username }))).user.username, 'admin')
  })

  test('sign-in: its time is stored on the account', async () => {
    await using it = await start()
    it.clock.set('2030-03-01T10:00:00.000Z')
    const caller = await callerOf(it, await signIn(it))
    const { user, expires_at } = await it.sessions.describe(caller)
    assert.equal(user.last_login_at, '2030-03-01T10:00:00.000Z')
    assert.equal(expires_at, '2030-03-08T10:00:00.000Z')
    assert.deepEqual(Object.keys(user).toSorted(), [
      'created_at',
      'email',
      'id',
      'last_login_at',
      'mfa_enrolled',
      'name',
      'picture',
      'role',
      'username',
    ])
  })

  test('a session expires after exactly seven days', async () => {
    await using it = await start()
    const token = await signIn(it)
    it.clock.set('2030-01-07T23:59:59.999Z')
    await callerOf(it, token)
    it.clock.set('2030-01-08T00:00:00.000Z')
    await assertRefused(it, token)
  })

  test('the sweep deletes expired sessions only', async () => {
    await using it = await start()
    const [old, revoked] = [await signIn(it), await signIn(it)]
    it.clock.set('2030-01-05T00:00:00.000Z')
    const young = await signIn(it)
    await it.sessions.logout(await callerOf(it, revoked))
    const sweep = () => it.sessions.loops[0]?.run(new AbortController().signal)
    const count = async () =>
      (await it.db.withTables<{ sessions: { jti: string } }>().selectFrom('sessions').selectAll().execute())
        .length
    await sweep()
    assert.equal(await count(), 3)
    it.clock.set('2030-01-08T00:00:00.000Z')
    await sweep()
    assert.equal(await count(), 1)
    await assertRefused(it, old)
    await callerOf(it, young)
  })

  test('logout ends this session immediately and no other', async () => {
    await using it = await start()
    const [first, second] = [await signIn(it), await signIn(it)]
    const caller = await callerOf(it, first)
    await it.sessions.logout(caller)
    await assertRefused(it, first)
    await callerOf(it, second)
    // A second logout changes nothing.
    await it.sessions.logout(caller)
    await callerOf(it, second)
  })

  test('logout with a key changes nothing', async () => {
    await using it = await start()
    const session = await callerOf(it, await signIn(it))
    const { key } = await it.keys.create(session, { name: 'k', scope: 'user' })
    await it.sessions.logout(await callerOf(it, key))
    await callerOf(it, key)
  })

  test('suspension, a change of role and removal apply to the next request', async () => {
    await using it = await start()
    const user = await it.addUser('user')
    const { access_token } = await it.sessions.issue(user, { mode: 'email' })
    assert.equal((await callerOf(it, access_token)).user.role, 'user')
    await it.changeUser(user.id, { role: 'creator' })
    assert.equal((await callerOf(it, access_token)).user.role, 'creator')
    await it.changeUser(user.id, { suspended_at: '2030-01-01T00:00:00.000Z' })
    await assertRefused(it, access_token)
    await it.changeUser(user.id, { suspended_at: null })
    await callerOf(it, access_token)
    await it.removeUser(user.id)
    await assertRefused(it, access_token)
    // A new account of the same name does not revive the session.
    await it.addUser('admin', user.username)
    await assertRefused(it, access_token)
  })

  test('an account suspended during the password check gets no session', async () => {
    await using it = await start()
    const user = await it.addUser('user')
    await it.changeUser(user.id, { suspended_at: '2030-01-01T00:00:00.000Z' })
    assert.equal(await faultOf(it.sessions.issue(user, { mode: 'email' })), 'invalid_credentials')
  })

  test('a restart ends every session but no key', async () => {
    await using db = await open()
    const world = createWorld()
    const before = await openIdentity(db, world)
    await before.sessions.setUp({ password }, ip)
    const token = await signIn(before)
    const { key } = await before.keys.create(await callerOf(before, token), { name: 'k', scope: 'user' })
    await before[Symbol.asyncDispose]()
    await using after = await openIdentity(db, world)
    await assertRefused(after, token)
    await callerOf(after, key)
    await callerOf(after, await signIn(after))
  })

  test('a token is not accepted as a key, a key not as a token, nor parts of either', async () => {
    await using it = await start()
    const token = await signIn(it)
    const { key } = await it.keys.create(await callerOf(it, token), { name: 'k', scope: 'user' })
    assert.equal(await it.keys.verifyKey(token), null)
    assert.equal(await it.sessions.verifySession(key), null)
    const [header, payload, signature] = token.split('.')
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
    for (const presented of [
      `svc_mcp_${token}`,
      `${token}${key}`,
      `${header}.${payload}.${key.slice(8)}`,
      `${header}.${payload}`,
      `${header}.${payload}.`,
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      token.slice(0, -1),
      `${token}x`,
      token.replaceAll('.', '%2E'),
      token.toLowerCase(),
      'null',
      'undefined',
      '[object Object]',
      'ünïcödé',
      '🐔'.repeat(40),
      'a.b.c',
    ])
      await assertRefused(it, presented, presented)
  })

  test('a token of another platform is refused', async () => {
    await using first = await start()
    await using second = await start()
    await assertRefused(second, await signIn(first))
  })

  test("a new password applies immediately and ends all sessions except the caller's", async () => {
    await using it = await start()
    const [own, other] = [await signIn(it), await signIn(it)]
    const caller = await callerOf(it, own)
    await callerOf(it, other)
    await it.sessions.changePassword(caller, { current: password, next: 'another good one' }, { ip })
    await callerOf(it, own)
    await assertRefused(it, other)
    assert.equal(await faultOf(signIn(it)), 'invalid_credentials')
    await callerOf(it, await signIn(it, { password: 'another good one' }))
  })

  test('a new password needs the old one and enough characters', async () => {
    await using it = await start()
    const [own, other] = [await signIn(it), await signIn(it)]
    const caller = await callerOf(it, own)
    const change = (current: string, next: string) =>
      faultOf(it.sessions.changePassword(caller, { current, next }, { ip }))
    assert.equal(await change('wrong', 'another good one'), 'invalid_credentials')
    assert.equal(await change(password, 'short'), 'weak_password')
    await callerOf(it, other)
    for (let i = 0; i < 4; i++) await change('wrong', 'another good one')
    assert.equal(await change(password, 'another good one'), 'too_many_attempts')
  })

  test('only admins with a password can change it', async () => {
    await using it = await start()
    const change = async (role: 'creator' | 'admin') => {
      const { access_token } = await it.sessions.issue(await it.addUser(role), { mode: 'email' })
      const caller = await callerOf(it, access_token)
      return faultOf(
        it.sessions.changePassword(caller, { current: password, next: 'another good one' }, { ip }),
      )
    }
    assert.equal(await change('creator'), 'admin_required')
    assert.equal(await change('admin'), 'conflict')
  })

  test('of several concurrent changes of one password, one succeeds', async () => {
    await using it = await start()
    const callers = await Promise.all([1, 2, 3, 4].map(async () => callerOf(it, await signIn(it))))
    const outcomes = await Promise.all(
      callers.map((caller, i) =>
        faultOf(it.sessions.changePassword(caller, { current: password, next: `another good ${i}` }, { ip })),
      ),
    )
    assert.deepEqual(outcomes.toSorted(), [...Array(3).fill('invalid_credentials'), 'none'])
  })

  test('an address belongs to one account, as its name or its e-mail address', async () => {
    await using it = await start()
    const { user } = await callerOf(it, await signIn(it))
    const ann = await it.addUser('user', 'ann@example.com')
    assert.equal(await faultOf(it.users.setEmail(user.id, 'ann@example.com')), 'already_exists')
    await it.users.setEmail(ann.id, 'new@example.com')
    // The user name stays with the account, so the old address stays in use.
    assert.equal(await faultOf(it.users.setEmail(user.id, 'ann@example.com')), 'already_exists')
    await it.users.setEmail(user.id, 'root@example.com')
    await it.users.setEmail(user.id, 'root@example.org')
    await callerOf(it, await signIn(it, { username: 'root@example.org' }))
    assert.equal(await faultOf(signIn(it, { username: 'root@example.com' })), 'invalid_credentials')
    await it.users.setEmail(ann.id, 'root@example.com')
    assert.equal((await it.users.find(ann.id))?.email, 'root@example.com')
    await it.users.setEmail(ann.id, 'root@example.com')
  })

  test('of many concurrent claims of one address, one succeeds', async () => {
    await using it = await start()
    const accounts = await Promise.all(Array.from({ length: 8 }, () => it.addUser()))
    const outcomes = await Promise.all(
      accounts.map(({ id }) => faultOf(it.users.setEmail(id, 'wanted@example.com'))),
    )
    assert.deepEqual(outcomes.toSorted(), [...Array(7).fill('already_exists'), 'none'])
  })
})
