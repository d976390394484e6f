import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { generateSync } from 'otplib'
import { createVault } from '../../foundation/vault/index.ts'
import { isFault } from '../../kit/fault.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { faultOf, outcomes } from '../test/fault-of.ts'
import { closing, createWorld, openIdentity, type World } from '../test/fixture.ts'

const password = 'correct horse battery'
const ip = '192.0.2.1'
const origin = { ip }

forEachDialect((_name, open) => {
  async function start(world?: World) {
    const db = await open()
    const it = closing(await openIdentity(db, world), db)
    await it.sessions.setUp({ password }, ip)
    const { account } = (await it.users.findLogin('admin')) ?? assert.fail('no admin')
    const { secondFactor, sessions, clock } = it
    const codeOf = (secret: string, steps = 0) =>
      generateSync({ secret, epoch: clock.now().getTime() / 1000 + steps * 30 })
    const signIn = (text = password) => sessions.signIn({ username: 'admin', password: text, ip })
    return {
      ...it,
      db,
      id: account.id,
      codeOf,
      signIn,
      /** Returns the challenge after the right password. */
      async challenge(): Promise<Record<string, unknown>> {
        try {
          await signIn()
        } catch (error) {
          if (isFault(error, 'mfa_required')) return { ...error.fields, error: error.message }
          throw error
        }
        return assert.fail('no second factor was required')
      },
      async token(): Promise<string> {
        return String((await this.challenge()).challenge_token)
      },
      async enrol() {
        const { secret } = await secondFactor.start(account.id)
        const recoveryCodes = await secondFactor.confirm(account.id, codeOf(secret), origin)
        // The time step of this code is used, so the next code needs the next step.
        await clock.advance(30)
        return { secret, recoveryCodes, wrong: codeOf(secret) === '000000' ? '111111' : '000000' }
      },
    }
  }

  test('no second factor is required before one is set up or a policy requires it', async () => {
    await using it = await start()
    assert.equal(await faultOf(it.signIn()), 'none')
    await it.secondFactor.start(it.id)
    assert.equal(await faultOf(it.signIn()), 'none', 'an unconfirmed factor is not required')
    assert.deepEqual(await it.secondFactor.status(it.id), {
      enrolled: false,
      required: false,
      recovery_codes_left: 0,
      enrolled_at: null,
    })
  })

  test('after the enrolment a password opens a challenge, and a code then opens a session', async () => {
    await using it = await start()
    const { secret, recoveryCodes } = await it.enrol()
    assert.equal(recoveryCodes.length, 10)
    assert.deepEqual(await it.secondFactor.status(it.id), {
      enrolled: true,
      required: false,
      recovery_codes_left: 10,
      enrolled_at: '2030-01-01T00:00:00.000Z',
    })
    const { challenge_token, ...rest } = await it.challenge()
    assert.deepEqual(rest, {
      error: 'mfa_required',
      mfa_required: true,
      mfa_enrolled: true,
      enrollment_required: false,
    })
    const reply = await it.sessions.secondStep.finish(String(challenge_token), it.codeOf(secret), { origin })
    assert.deepEqual(
      [reply.user.username, reply.user.mfa_enrolled, reply.recovery_codes_left],
      ['admin', true, 10],
    )
    assert.equal((await it.identify(`Bearer ${reply.access_token}`)).kind, 'session')
    assert.equal(await faultOf(it.signIn('wrong')), 'invalid_credentials', 'and no challenge')
  })

  test('a challenge token is not accepted as a session', async () => {
    await using it = await start()
    await it.enrol()
    assert.equal(await faultOf(it.identify(`Bearer ${await it.token()}`)), 'invalid_token')
  })

  test('a code works once: neither it nor an older one is accepted again', async () => {
    await using it = await start()
    const { secret } = await it.enrol()
    const { secondStep } = it.sessions
    const [code, older] = [it.codeOf(secret), it.codeOf(secret, -1)]
    assert.equal(await faultOf(secondStep.finish(await it.token(), code, { origin })), 'none')
    for (const used of [code, older])
      assert.equal(await faultOf(secondStep.finish(await it.token(), used, { origin })), 'invalid_code')
    await it.clock.advance(30)
    assert.equal(await faultOf(secondStep.finish(await it.token(), it.codeOf(secret), { origin })), 'none')
  })

  test('of twenty concurrent uses of one code, one succeeds, for one challenge and for many', async () => {
    await using it = await start()
    const { secret } = await it.enrol()
    const token = await it.token()
    const one = await outcomes(
      Array.from({ length: 20 }, () => it.sessions.secondStep.finish(token, it.codeOf(secret), { origin })),
    )
    assert.equal(one.none, 1, JSON.stringify(one))
    await it.clock.advance(900)
    const tokens = await Promise.all(Array.from({ length: 8 }, () => it.token()))
    const many = await outcomes(
      tokens.map((each) => it.sessions.secondStep.finish(each, it.codeOf(secret), { origin })),
    )
    assert.deepEqual(many, { invalid_code: 7, none: 1 })
  })

  test('of twenty concurrent uses of one recovery code, one succeeds', async () => {
    await using it = await start()
    const { recoveryCodes } = await it.enrol()
    const [code = ''] = recoveryCodes
    const typed = `${code.slice(0, 5)}-${code.slice(5)}`.toLowerCase()
    const tokens = await Promise.all(Array.from({ length: 8 }, () => it.token()))
    const results = await outcomes(
      tokens.map((token) => it.sessions.secondStep.finish(token, typed, { origin })),
    )
    assert.deepEqual(results, { invalid_code: 7, none: 1 })
    assert.equal((await it.secondFactor.status(it.id)).recovery_codes_left, 9)
  })

  test('a recovery code stays valid after a rotation of the encryption key, once', async () => {
    const [old, world] = [randomBytes(32), createWorld()]
    await using it = await start({ ...world, vault: createVault(old) })
    const { recoveryCodes } = await it.enrol()
    const retired = [{ key: old, turnsUntil: new Date(0) }]
    const vault = createVault(randomBytes(32), { retired, now: it.clock.now })
    await using after = await openIdentity(it.db, { ...world, vault })
    const { finish } = after.sessions.secondStep
    const code = recoveryCodes[0] ?? ''
    assert.equal(await faultOf(finish(await it.token(), code, { origin })), 'none')
    assert.equal(await faultOf(finish(await it.token(), code, { origin })), 'invalid_code')
  })

  test('a challenge ends after five tries or five minutes', async () => {
    await using it = await start()
    const { secret, wrong } = await it.enrol()
    const { finish } = it.sessions.secondStep
    const token = await it.token()
    for (let i = 0; i < 5; i++) assert.equal(await faultOf(finish(token, wrong, { origin })), 'invalid_code')
    assert.equal(await faultOf(finish(token, it.codeOf(secret), { origin })), 'too_many_attempts')
    const late = await it.token()
    await it.clock.advance(300)
    assert.equal(await faultOf(finish(late, it.codeOf(secret), { origin })), 'challenge_expired')
    assert.equal(await faultOf(finish('unknown', it.codeOf(secret), { origin })), 'challenge_expired')
  })

  test('an account has ten wrong tries in fifteen minutes over all its challenges', async () => {
    await using it = await start()
    const { secret, wrong } = await it.enrol()
    const { finish } = it.sessions.secondStep
    for (let round = 0; round < 2; round++) {
      const token = await it.token()
      for (let i = 0; i < 5; i++)
        assert.equal(await faultOf(finish(token, wrong, { origin })), 'invalid_code')
    }
    const refused = finish(await it.token(), it.codeOf(secret), { origin })
    await assert.rejects(
      refused,
      (error) => isFault(error, 'too_many_attempts') && error.fields.retry_after_seconds === 900,
    )
    await it.clock.advance(900)
    assert.equal(await faultOf(finish(await it.token(), it.codeOf(secret), { origin })), 'none')
  })

  test('a changed password and a suspended account void the challenge', async () => {
    await using it = await start()
    const { access_token } = await it.signIn()
    const { secret } = await it.enrol()
    const { finish } = it.sessions.secondStep
    const token = await it.token()
    const caller = await it.identify(`Bearer ${access_token}`)
    if (caller.kind === 'anonymous') return assert.fail('no session')
    await it.sessions.changePassword(caller, { current: password, next: 'another good one' }, { ip })
    assert.equal(await faultOf(finish(token, it.codeOf(secret), { origin })), 'challenge_expired')
    const second = await it.sessions
      .signIn({ username: 'admin', password: 'another good one', ip })
      .catch((error) => String(error.fields.challenge_token))
    await it.changeUser(it.id, { suspended_at: '2030-01-01T00:00:00.000Z' })
    assert.equal(await faultOf(finish(String(second), it.codeOf(secret), { origin })), 'account_suspended')
  })

  test('a policy applies at the next sign-in, which sets up a missing factor', async () => {
    await using it = await start()
    const { access_token } = await it.signIn()
    await it.secondFactor.policy.set(['admin'])
    assert.equal(await faultOf(it.identify(`Bearer ${access_token}`)), 'none', 'open sessions continue')
    const { challenge_token, ...rest } = await it.challenge()
    const token = String(challenge_token)
    assert.deepEqual(rest, {
      error: 'mfa_required',
      mfa_required: true,
      mfa_enrolled: false,
      enrollment_required: true,
    })
    const { secondStep } = it.sessions
    const first = await secondStep.startEnrolment(token)
    const begun = await secondStep.startEnrolment(token)
    assert.equal(begun.challenge_token, token)
    assert.equal(await faultOf(secondStep.finish(token, it.codeOf(begun.secret), { origin })), 'invalid_code')
    const stale = secondStep.finishEnrolment(token, it.codeOf(first.secret), { origin })
    assert.equal(await faultOf(stale), 'invalid_code', 'a code of the previous secret')
    const done = await secondStep.finishEnrolment(token, it.codeOf(begun.secret), { origin })
    assert.equal(done.recovery_codes.length, 10)
    assert.equal(await faultOf(it.identify(`Bearer ${done.access_token}`)), 'none')
    assert.equal(await faultOf(secondStep.startEnrolment(token)), 'challenge_expired')
    await it.clock.advance(30)
    assert.equal((await it.challenge()).mfa_enrolled, true)
  })

  test('a password alone cannot replace an existing factor', async () => {
    await using it = await start()
    await it.enrol()
    const token = await it.token()
    const { secondStep } = it.sessions
    assert.equal(await faultOf(secondStep.startEnrolment(token)), 'conflict')
    assert.equal(await faultOf(secondStep.finishEnrolment(token, '123456', { origin })), 'conflict')
    assert.equal(await faultOf(it.secondFactor.start(it.id)), 'conflict')
    assert.equal(await faultOf(it.secondFactor.confirm(it.id, '123456', origin)), 'conflict')
  })

  test('new recovery codes void the old ones; disabling needs a code and is refused under a policy', async () => {
    await using it = await start()
    const { secret, recoveryCodes, wrong } = await it.enrol()
    const { secondFactor, id } = it
    assert.equal(await faultOf(secondFactor.renewRecoveryCodes(id, wrong, origin)), 'invalid_code')
    const renewed = await secondFactor.renewRecoveryCodes(id, it.codeOf(secret), origin)
    assert.equal(await faultOf(secondFactor.disable(id, recoveryCodes[1] ?? '', origin)), 'invalid_code')
    await secondFactor.policy.set(['admin'])
    assert.equal(await faultOf(secondFactor.disable(id, renewed[1] ?? '', origin)), 'role_required')
    await secondFactor.policy.set([])
    assert.equal(await faultOf(secondFactor.disable(id, renewed[1] ?? '', origin)), 'none')
    assert.equal(await faultOf(it.signIn()), 'none')
    assert.equal(await faultOf(secondFactor.disable(id, renewed[2] ?? '', origin)), 'conflict')
    assert.equal((await secondFactor.status(id)).recovery_codes_left, 0)
  })

  test('an admin resets a lost factor', async () => {
    await using it = await start()
    await it.enrol()
    assert.equal(await faultOf(it.secondFactor.reset('nobody')), 'not_found')
    await it.secondFactor.reset('admin')
    assert.equal(await faultOf(it.signIn()), 'none')
    await it.enrol()
  })

  test('a mailed code is a first step like a password, and the allow list is checked again at the end', async () => {
    await using it = await start()
    const email = 'ann@example.com'
    await it.allowList.add({ email, default_role: 'user', added_by: 'admin' })
    await it.secondFactor.policy.set(['user'])
    const enter = async () => {
      const code = await it.codes.mint(it.db, { purpose: 'sign-in', email, place: { ip, device: null } })
      const outcome = await it.emailLogin.verify({ email, code, ip })
      return 'challenge' in outcome ? outcome.challenge : assert.fail('a session without a second step')
    }
    const { challenge_token, ...rest } = await enter()
    assert.deepEqual(rest, { mfa_required: true, mfa_enrolled: false, enrollment_required: true })
    const { secondStep } = it.sessions
    const { secret } = await secondStep.startEnrolment(challenge_token)
    const { user } = await secondStep.finishEnrolment(challenge_token, it.codeOf(secret), { origin })
    assert.equal(user.username, email)
    await it.clock.advance(30)
    const again = await enter()
    await it.allowList.remove(email)
    const late = secondStep.finish(again.challenge_token, it.codeOf(secret), { origin })
    assert.equal(await faultOf(late), 'challenge_expired')
  })

  test('keys need no second factor', async () => {
    await using it = await start()
    const caller = await it.identify(`Bearer ${(await it.signIn()).access_token}`)
    if (caller.kind === 'anonymous') return assert.fail('no session')
    const { key } = await it.keys.create(caller, { name: 'k', scope: 'user' })
    await it.secondFactor.policy.set(['admin'])
    assert.equal(await faultOf(it.identify(`Bearer ${key}`)), 'none')
    await it.enrol()
    assert.equal(await faultOf(it.identify(`Bearer ${key}`)), 'none')
  })

  test('the database contains no plain secret, recovery code or challenge token', async () => {
    await using it = await start()
    const { secret, recoveryCodes } = await it.enrol()
    const token = await it.token()
    type Tables = Record<'second_factors' | 'recovery_codes' | 'sign_in_challenges', Record<string, unknown>>
    const db = it.db.withTables<Tables>()
    const rows = await Promise.all(
      (['second_factors', 'recovery_codes', 'sign_in_challenges'] as const).map((table) =>
        db.selectFrom(table).selectAll().execute(),
      ),
    )
    assert.deepEqual(
      rows.map(({ length }) => length),
      [1, 10, 1],
    )
    const text = JSON.stringify(rows)
    for (const hidden of [secret, token, ...recoveryCodes]) assert.ok(!text.includes(hidden))
  })
})
