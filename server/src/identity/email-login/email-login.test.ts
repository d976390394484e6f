import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { faultOf, outcomes } from '../test/fault-of.ts'
import { closing, openIdentity } from '../test/fixture.ts'

const email = 'ann@example.com'
const ip = '192.0.2.1'

forEachDialect((_name, open) => {
  async function start() {
    const db = await open()
    const it = closing(await openIdentity(db), db)
    await it.allowList.add({ email, default_role: 'creator', added_by: 'admin' })
    const verify = (code: string, who: { email?: string; ip?: string } = {}) =>
      it.emailLogin.verify({ email, code, ip, ...who })
    return {
      ...it,
      verify,
      /** Returns the code of the newest mail, or null without mail. */
      async ask(address = email): Promise<string | null> {
        const before = it.mail.sent.length
        await it.emailLogin.requestCode({ email: address, ip })
        await it.emailLogin.settled()
        const [mail] = it.mail.sent.slice(before)
        return mail ? (/\b\d{6}\b/.exec(mail.text)?.[0] ?? null) : null
      },
      async enter(code: string | null) {
        const entrance = await verify(code ?? assert.fail('no mail'))
        return 'session' in entrance ? entrance.session : assert.fail('a second factor')
      },
    }
  }

  test('a mailed code creates the account with the listed role and opens a session', async () => {
    await using it = await start()
    const code = await it.ask()
    const session = await it.enter(code)
    assert.deepEqual(
      [session.user.username, session.user.email, session.user.role],
      [email, email, 'creator'],
    )
    const caller = await it.identify(`Bearer ${session.access_token}`)
    assert.equal(caller.kind === 'session' && caller.session.mode, 'email')
    const [mail] = it.mail.sent
    assert.equal(mail?.to, email)
    assert.match(mail?.text ?? '', /https:\/\/roost\.example\.com/)
    it.clock.set('2030-01-01T00:10:00.000Z')
    assert.equal((await it.enter(await it.ask())).user.id, session.user.id, 'and no second account')
  })

  test('of twenty concurrent uses of one code, one opens a session', async () => {
    await using it = await start()
    const code = (await it.ask()) ?? ''
    const results = await outcomes(Array.from({ length: 20 }, () => it.verify(code)))
    assert.equal(results.none, 1)
    const { none, invalid_code = 0, too_many_attempts = 0, ...others } = results
    assert.deepEqual([invalid_code + too_many_attempts, others], [19, {}])
    assert.equal((await it.people.list()).length, 1)
  })

  test('wrong, used and expired codes and unknown or unlisted addresses get the same response', async () => {
    await using it = await start()
    const code = (await it.ask()) ?? ''
    const wrong = code === '111111' ? '222222' : '111111'
    assert.equal(await faultOf(it.verify(wrong)), 'invalid_code')
    assert.equal(await faultOf(it.verify('not a code')), 'invalid_code')
    assert.equal(await faultOf(it.verify(code, { email: 'nobody@example.com' })), 'invalid_code')
    await it.enter(code)
    assert.equal(await faultOf(it.verify(code)), 'invalid_code', 'used')
    const expired = (await it.ask()) ?? ''
    it.clock.set('2030-01-01T00:10:00.000Z')
    assert.equal(await faultOf(it.verify(expired)), 'invalid_code', 'expired')
  })

  test('a removed address cannot sign in, not even with a code sent before', async () => {
    await using it = await start()
    const code = (await it.ask()) ?? ''
    await it.allowList.remove(email)
    assert.equal(await faultOf(it.verify(code)), 'invalid_code')
    assert.deepEqual(await it.people.list(), [], 'and no account is created')
    assert.equal(await it.ask(), null)
    await it.allowList.add({ email, default_role: 'user', added_by: 'admin' })
    assert.equal((await it.enter(code)).user.role, 'user', 'the code was not used up')
  })

  test('a code of another purpose is refused', async () => {
    await using it = await start()
    const code = await it.codes.mint(it.db, { purpose: 'public-link:1', email, place: { ip, device: null } })
    assert.equal(await faultOf(it.verify(code)), 'invalid_code')
  })

  test('a code request gets the same response before any lookup, whether mail works or not', async () => {
    await using it = await start()
    it.mail.set('hangs')
    for (const address of [email, 'nobody@example.com'])
      assert.equal(await it.emailLogin.requestCode({ email: address, ip }), undefined)
    it.mail.set('fails')
    await it.emailLogin.settled()
    assert.deepEqual(it.mail.sent, [])
  })

  test('the fourth mail within ten minutes is dropped silently', async () => {
    await using it = await start()
    for (let i = 0; i < 3; i++) assert.ok(await it.ask())
    assert.equal(await it.ask(), null)
    it.clock.set('2030-01-01T00:10:00.000Z')
    assert.ok(await it.ask())
  })

  test('429 for the sixth try within ten minutes, for known and unknown addresses alike', async () => {
    await using it = await start()
    const code = (await it.ask()) ?? ''
    const wrong = code === '111111' ? '222222' : '111111'
    for (const address of [email, 'nobody@example.com']) {
      for (let i = 0; i < 5; i++)
        assert.equal(await faultOf(it.verify(wrong, { email: address })), 'invalid_code')
      assert.equal(await faultOf(it.verify(code, { email: address })), 'too_many_attempts')
    }
  })

  test('429 above sixty calls in five minutes from one client', async () => {
    await using it = await start()
    const ask = (i: number) => it.emailLogin.requestCode({ email: `nobody${i}@example.com`, ip })
    for (let i = 0; i < 60; i++) await ask(i)
    assert.equal(await faultOf(ask(60)), 'rate_limited')
    assert.equal(await faultOf(it.verify('111111')), 'rate_limited')
    assert.equal(await faultOf(it.verify('111111', { ip: '192.0.2.2' })), 'invalid_code')
    await it.emailLogin.settled()
  })

  test('a suspended account is reported as such only with the right code', async () => {
    await using it = await start()
    const { user } = await it.enter(await it.ask())
    await it.changeUser(user.id, { suspended_at: '2030-01-01T00:00:00.000Z' })
    const code = (await it.ask()) ?? ''
    assert.equal(await faultOf(it.verify(code === '111111' ? '222222' : '111111')), 'invalid_code')
    assert.equal(await faultOf(it.verify(code)), 'account_suspended')
  })

  test('when off or without mail, no code is sent or accepted', async () => {
    await using it = await start()
    const code = (await it.ask()) ?? ''
    it.switches.emailLogin = false
    assert.deepEqual(it.emailLogin.methods(), { emailLogin: false, accessRequests: false })
    assert.equal(await faultOf(it.emailLogin.requestCode({ email, ip })), 'email_login_disabled')
    assert.equal(await faultOf(it.verify(code)), 'email_login_disabled')
  })

  test('an access request lists the address if an admin has enabled such requests', async () => {
    await using it = await start()
    const ask = (address: string) => it.emailLogin.requestAccess({ email: address, ip })
    assert.equal(await faultOf(ask('bob@example.com')), 'access_requests_disabled')
    it.switches.accessRequests = true
    assert.deepEqual(await ask('bob@example.com'), { alreadyRegistered: false })
    assert.deepEqual(await ask('bob@example.com'), { alreadyRegistered: true })
    const entry = await it.allowList.find(it.db, 'bob@example.com')
    assert.deepEqual([entry?.source, entry?.default_role, entry?.added_by], ['access_request', 'user', null])
    for (let i = 0; i < 18; i++) await ask('bob@example.com')
    assert.equal(await faultOf(ask('bob@example.com')), 'rate_limited')
    const askFrom = (client: string) => it.emailLogin.requestAccess({ email: 'bob@example.com', ip: client })
    for (let i = 0; i < 20; i++) await askFrom(`2001:db8::${i}`)
    assert.equal(await faultOf(askFrom('2001:db8::99')), 'rate_limited', 'the same network')
  })

  test('an access request for an address that an admin registered does not open that account', async () => {
    await using it = await start()
    const admin = await it.addUser('admin', 'root@example.com')
    await it.users.setEmail(admin.id, 'mistyped@example.com')
    it.switches.accessRequests = true
    await it.emailLogin.requestAccess({ email: 'mistyped@example.com', ip })
    assert.equal(await it.ask('mistyped@example.com'), null)
    const code = await it.codes.mint(it.db, {
      purpose: 'sign-in',
      email: 'mistyped@example.com',
      place: { ip, device: null },
    })
    assert.equal(await faultOf(it.verify(code, { email: 'mistyped@example.com' })), 'invalid_code')
    await it.allowList.remove('mistyped@example.com')
    await it.allowList.add({ email: 'mistyped@example.com', default_role: 'user', added_by: 'admin' })
    const entrance = await it.verify((await it.ask('mistyped@example.com')) ?? '', {
      email: 'mistyped@example.com',
    })
    assert.equal('session' in entrance && entrance.session.user.id, admin.id, 'an admin listed it on purpose')
  })
})
