import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { closing, type Identity, openIdentity } from '../test/fixture.ts'

const password = 'correct horse battery'
const ip = '192.0.2.1'

async function start(email: string | null | false = null) {
  const db = await openTestDatabase()
  const identity = await openIdentity(db)
  if (email !== false) await identity.sessions.setUp({ password, email }, ip)
  return closing(identity, db)
}

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

test('setup: 429 above 30 calls in ten minutes from one address', async () => {
  await using it = await start(false)
  for (let i = 0; i < 30; i++) await faultOf(it.sessions.setUp({ password: 'short' }, ip))
  assert.equal(await faultOf(it.sessions.setUp({ password }, ip)), 'rate_limited')
  assert.equal(await faultOf(it.sessions.setUp({ password: 'short' }, '192.0.2.2')), 'weak_password')
  for (let i = 0; i < 30; i++) await faultOf(it.sessions.setUp({ password: 'short' }, `2001:db8::${i}`))
  assert.equal(await faultOf(it.sessions.setUp({ password }, '2001:db8::99')), 'rate_limited')
  it.clock.set('2030-01-01T00:10:00.000Z')
  assert.equal(await faultOf(it.sessions.setUp({ password }, ip)), 'none')
})

test('sign-in: the same response for a wrong password, an unknown name and an account without a password', async () => {
  await using it = await start()
  await it.addUser('user', 'ann@example.com')
  for (const change of [
    { password: 'wrong' },
    { password: '' },
    { username: '' },
    { username: 'nobody' },
    { username: 'ann@example.com' },
    { username: "admin' or 1=1 --" },
  ])
    assert.equal(await faultOf(signIn(it, change)), 'invalid_credentials', JSON.stringify(change))
})

test('sign-in: a suspended account is reported as such only with the right password', async () => {
  await using it = await start()
  const found = await it.users.findLogin('admin')
  assert.ok(found)
  // A second admin, so that setup stays closed.
  await it.addUser('admin')
  await it.changeUser(found.account.id, { suspended_at: '2030-01-01T00:00:00.000Z' })
  assert.equal(await faultOf(signIn(it)), 'account_suspended')
  assert.equal(await faultOf(signIn(it, { password: 'wrong password' })), 'invalid_credentials')
})

test('throttling: the sixth try for an account within 15 minutes is 429, right or wrong', async () => {
  await using it = await start('root@example.com')
  for (let i = 0; i < 5; i++)
    assert.equal(await faultOf(signIn(it, { password: 'wrong' })), 'invalid_credentials')
  it.clock.set('2030-01-01T00:05:00.000Z')
  await assert.rejects(
    signIn(it),
    (error) => isFault(error, 'too_many_attempts') && error.fields.retry_after_seconds === 600,
  )
  // The same account by its e-mail address.
  assert.equal(await faultOf(signIn(it, { username: 'root@example.com' })), 'too_many_attempts')
  it.clock.set('2030-01-01T00:14:59.000Z')
  assert.equal(await faultOf(signIn(it)), 'too_many_attempts')
  it.clock.set('2030-01-01T00:15:00.000Z')
  assert.equal(await faultOf(signIn(it)), 'none')
})

test('throttling: of twenty concurrent guesses five are checked', async () => {
  await using it = await start()
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, i) => faultOf(signIn(it, { password: `guess ${i}` }))),
  )
  assert.deepEqual(outcomes.toSorted(), [
    ...Array(5).fill('invalid_credentials'),
    ...Array(15).fill('too_many_attempts'),
  ])
})

test('throttling: twenty concurrent sign-ins with the right password all succeed', async () => {
  await using it = await start()
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => faultOf(signIn(it))))
  assert.deepEqual(outcomes, Array(20).fill('none'))
})

test('throttling: a success resets the counts of account and address', async () => {
  await using it = await start()
  const fail = async (times: number, username: string) => {
    for (let i = 0; i < times; i++)
      assert.equal(await faultOf(signIn(it, { username, password: 'wrong' })), 'invalid_credentials')
  }
  for (let round = 0; round < 3; round++) {
    await fail(4, 'admin')
    for (let i = 0; i < 5; i++) await fail(5, `nobody-${round}-${i}`)
    assert.equal(await faultOf(signIn(it)), 'none')
  }
})

test('throttling: 30 failures from one address within 5 minutes, whatever the names', async () => {
  await using it = await start()
  for (let i = 0; i < 30; i++)
    assert.equal(await faultOf(signIn(it, { username: `nobody-${i}` })), 'invalid_credentials')
  assert.equal(await faultOf(signIn(it)), 'too_many_attempts')
  const elsewhere = it.sessions.signIn({ username: 'admin', password, ip: '192.0.2.2' })
  assert.equal(await faultOf(elsewhere), 'none')
  it.clock.set('2030-01-01T00:05:00.000Z')
  assert.equal(await faultOf(signIn(it)), 'none')
})

test('throttling: one locked account does not use up the tries of its address', async () => {
  await using it = await start()
  for (let i = 0; i < 60; i++) await faultOf(signIn(it, { username: 'nobody' }))
  assert.equal(await faultOf(signIn(it)), 'none')
})
