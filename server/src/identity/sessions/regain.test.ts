import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timestamp } from '../../kit/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { faultOf } from '../test/fault-of.ts'
import { openIdentity } from '../test/fixture.ts'
import { userStore } from '../users/store.ts'
import { regainAdmin } from './index.ts'

const ip = '192.0.2.1'
const old = 'correct horse battery'

forEachDialect((_name, open) => {
  test('regaining the first admin: new password, role admin, not suspended, no second factor, no old sessions', async () => {
    await using db = await open()
    await using it = await openIdentity(db)
    await it.sessions.setUp({ password: old }, ip)
    const signIn = (password: string) => it.sessions.signIn({ username: 'admin', password, ip })
    const { access_token: session } = await signIn(old)
    const { id } = (await it.users.findLogin('admin'))?.account ?? assert.fail()
    const { secret } = await it.secondFactor.start(id)
    assert.ok(secret)
    await it.addUser('admin')
    await db.atomically(async (tx) => {
      await it.users.setEnrolled(tx, id, timestamp(it.clock.now()))
      await userStore(tx).setRole(id, 'user')
      await userStore(tx).suspend(id, timestamp(it.clock.now()))
    })
    const regained =
      (await regainAdmin({ db, clock: it.clock, users: it.users, onEnded: async () => {} })) ?? assert.fail()
    assert.deepEqual([regained.userId, regained.username], [id, 'admin'])
    assert.match(regained.password, /^[a-zA-Z2-9]{24}$/)
    assert.equal(await faultOf(it.identify(`Bearer ${session}`)), 'invalid_token')
    assert.equal(await faultOf(signIn(old)), 'invalid_credentials')
    const { access_token: token } = await signIn(regained.password)
    const caller = await it.identify(`Bearer ${token}`)
    assert.equal(caller.kind === 'session' && caller.user.role, 'admin')
    assert.ok(await it.secondFactor.start(id), 'a new factor can be set up')
  })

  test('a platform without the first admin is not changed', async () => {
    await using db = await open()
    await using it = await openIdentity(db)
    assert.equal(await regainAdmin({ db, clock: it.clock, users: it.users, onEnded: async () => {} }), null)
    assert.equal((await it.sessions.setupStatus()).setup_available, true)
  })
})
