import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import type { SignedIn } from '../access/index.ts'
import { faultOf } from '../test/fault-of.ts'
import { closing, openIdentity } from '../test/fixture.ts'
import { type Account, callerUser } from './index.ts'

const callerOf = (account: Account): SignedIn => ({
  kind: 'session',
  user: callerUser(account),
  session: { jti: 'j', mode: 'email', expires_at: '2030-02-01T00:00:00.000Z' },
})

forEachDialect((_name, open) => {
  async function start() {
    const db = await open()
    const it = closing(await openIdentity(db), db)
    const admin = await it.addUser('admin', 'root@example.com')
    const ann = await it.addUser('user', 'ann@example.com')
    return { ...it, admin, ann, asAdmin: callerOf(admin) }
  }

  test('the list contains all users, newest first, with their suspension', async () => {
    await using it = await start()
    it.clock.set('2030-01-01T00:00:01.000Z')
    await it.addUser('creator', 'bob@example.com')
    await it.people.suspend(it.asAdmin, 'ann@example.com')
    const list = await it.people.list()
    assert.equal(list[0]?.username, 'bob@example.com')
    const shown = list.map(({ username, role, suspended_at }) => [username, role, suspended_at])
    assert.deepEqual(shown.toSorted(), [
      ['ann@example.com', 'user', '2030-01-01T00:00:01.000Z'],
      ['bob@example.com', 'creator', null],
      ['root@example.com', 'admin', null],
    ])
    assert.ok(!JSON.stringify(list).includes('password'))
  })

  test('a new role applies to the next request of a session and of a key', async () => {
    await using it = await start()
    const { access_token } = await it.sessions.issue(it.ann, { mode: 'email' })
    const { key } = await it.keys.create(callerOf(it.ann), { name: 'k', scope: 'user' })
    for (const role of ['creator', 'user'] as const) {
      assert.equal((await it.people.setRole(it.asAdmin, 'Ann@example.com', role)).role, role)
      for (const credential of [access_token, key]) {
        const caller = await it.identify(`Bearer ${credential}`)
        assert.equal(caller.kind !== 'anonymous' && caller.user.role, role)
      }
    }
  })

  test('suspension refuses session and key from the next request; unsuspending restores the key', async () => {
    await using it = await start()
    const { access_token } = await it.sessions.issue(it.ann, { mode: 'email' })
    const { key } = await it.keys.create(callerOf(it.ann), { name: 'k', scope: 'user' })
    const callers = async () =>
      Promise.all([access_token, key].map((credential) => faultOf(it.identify(`Bearer ${credential}`))))
    assert.deepEqual(await callers(), ['none', 'none'])
    const changes: unknown[] = []
    it.changes.on((change) => changes.push(change))
    const suspended = await it.people.suspend(it.asAdmin, 'ann@example.com')
    assert.equal(suspended.suspended_at, '2030-01-01T00:00:00.000Z')
    assert.deepEqual(changes[0], { user_id: it.ann.id }, 'open sockets are notified')
    assert.deepEqual(await callers(), ['invalid_token', 'invalid_token'])
    it.clock.set('2030-01-01T00:00:02.000Z')
    const again = await it.people.suspend(it.asAdmin, 'ann@example.com')
    assert.equal(again.suspended_at, suspended.suspended_at, 'suspending twice changes nothing')
    assert.equal((await it.people.unsuspend(it.asAdmin, 'ann@example.com')).suspended_at, null)
    assert.deepEqual(await callers(), ['invalid_token', 'none'])
  })

  test('unsuspending ends sessions that a suspension of an older version left', async () => {
    await using it = await start()
    const { access_token } = await it.sessions.issue(it.ann, { mode: 'email' })
    await it.changeUser(it.ann.id, { suspended_at: '2030-01-01T00:00:00.000Z' })
    await it.people.unsuspend(it.asAdmin, 'ann@example.com')
    assert.equal(await faultOf(it.identify(`Bearer ${access_token}`)), 'invalid_token')
  })

  test('the own account and unknown accounts are refused', async () => {
    await using it = await start()
    const { people, asAdmin } = it
    for (const [username, code] of [
      ['root@example.com', 'own_role'],
      ['nobody', 'not_found'],
    ] as const) {
      assert.equal(await faultOf(people.setRole(asAdmin, username, 'user')), code)
      assert.equal(await faultOf(people.suspend(asAdmin, username)), code)
      assert.equal(await faultOf(people.unsuspend(asAdmin, username)), code)
    }
  })

  test('the last admin who can sign in stays admin', async () => {
    await using it = await start()
    const deleted = callerOf(await it.addUser('admin', 'gone@example.com'))
    await it.people.suspend(it.asAdmin, 'gone@example.com')
    assert.equal(await faultOf(it.people.setRole(deleted, 'root@example.com', 'creator')), 'conflict')
    assert.equal(await faultOf(it.people.suspend(deleted, 'root@example.com')), 'conflict')
    assert.equal(await faultOf(it.people.setRole(deleted, 'root@example.com', 'admin')), 'none')
    assert.equal(await faultOf(it.people.setRole(it.asAdmin, 'gone@example.com', 'user')), 'none')
  })

  test('when ten admins demote or suspend one another concurrently, one remains', async () => {
    await using it = await start()
    const others = await Promise.all(Array.from({ length: 9 }, (_, i) => it.addUser('admin', `a${i}@x.org`)))
    const admins = [it.admin, ...others]
    await Promise.all(
      admins.map((account, index) => {
        const next = admins[(index + 1) % admins.length] ?? account
        return faultOf(
          index % 2
            ? it.people.setRole(callerOf(account), next.username, 'user')
            : it.people.suspend(callerOf(account), next.username),
        )
      }),
    )
    const remaining = (await it.people.list()).filter((each) => each.role === 'admin' && !each.suspended_at)
    assert.equal(remaining.length, 1)
  })
})
