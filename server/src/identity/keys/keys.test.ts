import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { McpKey, NewKey } from '@roost/contracts/identity/keys'
import { sql } from 'kysely'
import { isFault } from '../../kit/fault.ts'
import { forEachDialect } from '../../test/dialects.ts'
import type { SignedIn } from '../access/index.ts'
import { closing, createWorld, type Identity, openIdentity } from '../test/fixture.ts'
import { type Account, callerUser } from '../users/index.ts'

function sessionOf(account: Account): SignedIn {
  return {
    kind: 'session',
    user: callerUser(account),
    session: { jti: 'j', mode: 'admin', expires_at: '2030-02-01T00:00:00.000Z' },
  }
}

const request = (change: object = {}) => ({ name: 'laptop', scope: 'user', ...change })

forEachDialect((_name, open) => {
  async function start() {
    const db = await open()
    const identity = await openIdentity(db)
    const admin = await identity.addUser('admin', 'admin')
    const user = await identity.addUser('user', 'ann@example.com')
    return { ...closing(identity, db), admin, user }
  }

  const assertRefused = async (identity: Pick<Identity, 'identify'>, key: string) =>
    assert.rejects(identity.identify(`Bearer ${key}`), (error) => isFault(error, 'invalid_token'))

  const mintAgentKey = (identity: Pick<Identity, 'db' | 'keys'>, agentId: string, ownerId: string) =>
    identity.db.atomically((tx) => identity.keys.mintAgentKey(tx, { agentId, ownerId, name: 'agent: a' }))

  test('a new key is shown once and then identifies its owner', async () => {
    await using it = await start()
    const created = await it.keys.create(sessionOf(it.user), request({ description: 'at home' }))
    assert.deepEqual(NewKey.parse(created), created)
    assert.match(created.key, /^svc_mcp_[A-Za-z0-9_-]{43}$/)
    assert.equal(created.api_key, created.key)
    assert.equal(created.key_prefix, created.key.slice(0, 12))
    assert.deepEqual(
      [created.scope, created.is_active, created.usage_count, created.username, created.expires_at],
      ['user', true, 0, 'ann@example.com', null],
    )
    assert.deepEqual(await it.identify(`Bearer ${created.key}`), {
      kind: 'key',
      user: { id: it.user.id, username: 'ann@example.com', email: 'ann@example.com', role: 'user' },
      key: { id: created.id, name: 'laptop', scope: 'user', agent_id: null },
    })
    const shown = JSON.stringify([await it.keys.list(sessionOf(it.user), { all: false })])
    assert.ok(!shown.includes(created.key) && !shown.includes('key_hash'))
  })

  test('the database stores the SHA-256 of a key and nothing that reveals the key', async () => {
    await using it = await start()
    const created = await it.keys.create(sessionOf(it.user), request())
    const { rows } = await sql<Record<string, unknown>>`select * from mcp_keys`.execute(it.db.withTables())
    assert.equal(rows[0]?.key_hash, createHash('sha256').update(created.key).digest('hex'))
    assert.ok(!JSON.stringify(rows).includes(created.key.slice(0, 13)))
  })

  test('people list their own keys, newest first, and an admin can list all', async () => {
    await using it = await start()
    const first = await it.keys.create(sessionOf(it.user), request({ name: 'first' }))
    it.clock.set('2030-01-01T00:00:01.000Z')
    const second = await it.keys.create(sessionOf(it.user), request({ name: 'second' }))
    it.clock.set('2030-01-01T00:00:02.000Z')
    const admins = await it.keys.create(sessionOf(it.admin), request({ name: 'third' }))
    const ids = async (account: Account, all: boolean) =>
      (await it.keys.list(sessionOf(account), { all })).map((key) => McpKey.parse(key).id)
    assert.deepEqual(await ids(it.user, false), [second.id, first.id])
    assert.deepEqual(await ids(it.admin, false), [admins.id])
    assert.deepEqual(await ids(it.admin, true), [admins.id, second.id, first.id])
    await assert.rejects(ids(it.user, true), (error) => isFault(error, 'admin_required'))
    const [row] = await it.keys.list(sessionOf(it.user), { all: false })
    assert.equal(row?.user_email, 'ann@example.com')
  })

  test("404 for another person's key, except to an admin", async () => {
    await using it = await start()
    const other = await it.addUser('creator')
    const created = await it.keys.create(sessionOf(it.user), request())
    for (const act of [it.keys.get, it.keys.revoke, it.keys.remove]) {
      await assert.rejects(act(sessionOf(other), created.id), (error) => isFault(error, 'key_not_found'))
      await assert.rejects(act(sessionOf(it.admin), 'nothing'), (error) => isFault(error, 'key_not_found'))
    }
    assert.equal((await it.keys.get(sessionOf(it.admin), created.id)).username, 'ann@example.com')
    await it.keys.revoke(sessionOf(it.admin), created.id)
    assert.equal((await it.keys.get(sessionOf(it.user), created.id)).is_active, false)
  })

  test('401 from the next request after revoking; the key stays listed', async () => {
    await using it = await start()
    const created = await it.keys.create(sessionOf(it.user), request())
    await it.identify(`Bearer ${created.key}`)
    await it.keys.revoke(sessionOf(it.user), created.id)
    await assertRefused(it, created.key)
    const [row] = await it.keys.list(sessionOf(it.user), { all: false })
    assert.deepEqual(
      [row?.id, row?.is_active, row?.revoked_at],
      [created.id, false, '2030-01-01T00:00:00.000Z'],
    )
    it.clock.set('2030-01-05T00:00:00.000Z')
    await it.keys.revoke(sessionOf(it.user), created.id)
    assert.equal((await it.keys.get(sessionOf(it.user), created.id)).revoked_at, '2030-01-01T00:00:00.000Z')
  })

  test('401 from the next request after deleting; the key is no longer listed', async () => {
    await using it = await start()
    const created = await it.keys.create(sessionOf(it.user), request())
    await it.identify(`Bearer ${created.key}`)
    await it.keys.remove(sessionOf(it.user), created.id)
    await assertRefused(it, created.key)
    assert.deepEqual(await it.keys.list(sessionOf(it.user), { all: false }), [])
    await assert.rejects(it.keys.remove(sessionOf(it.user), created.id), (error) =>
      isFault(error, 'key_not_found'),
    )
  })

  test('of twenty concurrent deletions of one key, one succeeds', async () => {
    await using it = await start()
    const created = await it.keys.create(sessionOf(it.user), request())
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => it.keys.remove(sessionOf(it.user), created.id)),
    )
    assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1)
  })

  test("a change of the owner's role, suspension and removal apply to the next request", async () => {
    await using it = await start()
    const user = await it.keys.create(sessionOf(it.admin), request())
    const ops = await it.keys.create(sessionOf(it.admin), request({ scope: 'ops' }))
    const roleOf = async () => {
      const caller = await it.identify(`Bearer ${user.key}`)
      return caller.kind === 'key' ? caller.user.role : null
    }
    assert.equal(await roleOf(), 'admin')
    await it.identify(`Bearer ${ops.key}`)
    await it.changeUser(it.admin.id, { role: 'creator' })
    assert.equal(await roleOf(), 'creator')
    await assertRefused(it, ops.key)
    await it.changeUser(it.admin.id, { role: 'admin' })
    await it.identify(`Bearer ${ops.key}`)

    await it.changeUser(it.admin.id, { suspended_at: '2030-01-01T00:00:00.000Z' })
    await assertRefused(it, user.key)
    await it.changeUser(it.admin.id, { suspended_at: null })
    assert.equal(await roleOf(), 'admin')

    await it.removeUser(it.admin.id)
    await assertRefused(it, user.key)
    await assertRefused(it, ops.key)
  })

  test('a key stops at its expiry time', async () => {
    await using it = await start()
    const created = await it.keys.create(
      sessionOf(it.admin),
      request({ scope: 'ops', expires_at: '2030-01-01T00:00:04.000Z' }),
    )
    it.clock.set('2030-01-01T00:00:03.999Z')
    await it.identify(`Bearer ${created.key}`)
    it.clock.set('2030-01-01T00:00:04.000Z')
    await assertRefused(it, created.key)
    assert.equal((await it.keys.get(sessionOf(it.admin), created.id)).is_active, false)
  })

  test('401 for text that only resembles a key', async () => {
    await using it = await start()
    const { key } = await it.keys.create(sessionOf(it.user), request())
    const { access_token } = await it.sessions.issue(it.user, { mode: 'email' })
    const letter = key.at(-1) === 'A' ? 'B' : 'A'
    for (const presented of [
      'svc_mcp_',
      key.slice(0, -1),
      `${key}A`,
      key.slice(0, -1) + letter,
      key.toUpperCase(),
      `svc_mcp_${access_token}`,
      `svc_mcp_${'ü'.repeat(43)}`,
      `svc_mcp_${createHash('sha256').update(key).digest('base64url')}`,
      `${key} ${key}`,
      key.replace('svc_', 'SVC_'),
    ])
      await assertRefused(it, presented)
  })

  test('uses are counted and written in batches', async () => {
    await using it = await start()
    const created = await it.keys.create(sessionOf(it.user), request())
    const stored = async () => {
      const { rows } = await sql<{ usage_count: number; last_used_at: string | null }>`
        select usage_count, last_used_at from mcp_keys`.execute(it.db.withTables())
      return [rows[0]?.usage_count, rows[0]?.last_used_at]
    }
    for (let i = 0; i < 5; i++) await it.identify(`Bearer ${created.key}`)
    it.clock.set('2030-01-01T00:00:02.000Z')
    await it.identify(`Bearer ${created.key}`)
    assert.deepEqual(await stored(), [0, null])
    await it.keys.loops[0]?.run(new AbortController().signal)
    assert.deepEqual(await stored(), [6, '2030-01-01T00:00:02.000Z'])
    await it.identify(`Bearer ${created.key}`)
    // Reading a key flushes its counter first.
    assert.equal((await it.keys.get(sessionOf(it.user), created.id)).usage_count, 7)
    await it.identify(`Bearer ${created.key}`)
    await it.keys.close()
    assert.deepEqual(await stored(), [8, '2030-01-01T00:00:02.000Z'])
  })

  test('the counts of two processes add up, and the later use is kept', async () => {
    await using db = await open()
    const world = createWorld()
    await using first = await openIdentity(db, world)
    await using again = await db.openAgain()
    await using second = await openIdentity(again, world)
    const user = await first.addUser()
    const created = await first.keys.create(sessionOf(user), request())
    await second.identify(`Bearer ${created.key}`)
    world.clock.set('2030-01-01T00:00:09.000Z')
    await first.identify(`Bearer ${created.key}`)
    await first.keys.close()
    await second.keys.close()
    const view = await first.keys.get(sessionOf(user), created.id)
    assert.deepEqual([view.usage_count, view.last_used_at], [2, '2030-01-01T00:00:09.000Z'])
  })

  test('concurrent requests create the default key once', async () => {
    await using it = await start()
    const results = await Promise.all(
      Array.from({ length: 20 }, () => it.keys.ensureDefault(sessionOf(it.user))),
    )
    const minted = results.flatMap(({ key }) => key ?? [])
    assert.equal(minted.length, 1)
    assert.deepEqual([...new Set(results.map(({ id, name }) => `${id} ${name}`))].length, 1)
    assert.equal(results[0]?.name, 'Default')
    await it.identify(`Bearer ${minted[0]}`)
  })

  test('a default key is created only for a person without a working user key', async () => {
    await using it = await start()
    const caller = sessionOf(it.user)
    const created = await it.keys.create(caller, request())
    assert.deepEqual(await it.keys.ensureDefault(caller), { id: created.id, name: 'laptop', key: null })
    await it.keys.revoke(caller, created.id)
    const first = await it.keys.ensureDefault(caller)
    assert.notEqual(first.key, null)
    await it.keys.revoke(caller, first.id)
    const second = await it.keys.ensureDefault(caller)
    assert.notEqual(second.key, null)
    assert.notEqual(second.id, first.id)
  })

  test('429 above 300 new keys an hour, per person', async () => {
    await using it = await start()
    const caller = sessionOf(it.user)
    for (let i = 0; i < 300; i++) await it.keys.create(caller, request())
    await assert.rejects(
      it.keys.create(caller, request()),
      (error) => isFault(error, 'rate_limited') && error.fields.retry_after_seconds === 3600,
    )
    await it.keys.create(sessionOf(it.admin), request())
    it.clock.set('2030-01-01T01:00:00.000Z')
    await it.keys.create(caller, request())
  })

  test('an agent key is bound to its agent and identifies its owner', async () => {
    await using it = await start()
    it.agents.set('agent-1', 'scout')
    const { id, key } = await mintAgentKey(it, 'agent-1', it.user.id)
    const caller = await it.identify(`Bearer ${key}`)
    assert.ok(caller.kind === 'key')
    assert.deepEqual(caller.key, { id, name: 'agent: a', scope: 'agent', agent_id: 'agent-1' })
    assert.equal(caller.user.id, it.user.id)
    assert.equal(await it.keys.agentNameOf(caller), 'scout')
    const [row] = await it.keys.list(sessionOf(it.user), { all: false })
    assert.deepEqual([row?.id, row?.scope, row?.agent_name], [id, 'agent', 'scout'])
    it.agents.set('agent-1', 'ranger')
    assert.equal((await it.keys.get(sessionOf(it.user), id)).agent_name, 'ranger')
  })

  test('a rolled back transaction leaves no agent key', async () => {
    await using it = await start()
    let key = ''
    await assert.rejects(
      it.db.atomically(async (tx) => {
        key = (await it.keys.mintAgentKey(tx, { agentId: 'a', ownerId: it.user.id, name: 'n' })).key
        throw new Error('undone')
      }),
      /undone/,
    )
    await assertRefused(it, key)
  })

  test("an agent's keys stop with a new one and are deleted with the agent, those of others are not", async () => {
    await using it = await start()
    const old = await mintAgentKey(it, 'agent-1', it.user.id)
    const other = await mintAgentKey(it, 'agent-2', it.user.id)
    await it.identify(`Bearer ${old.key}`)
    const renewed = await it.db.atomically(async (tx) => {
      const created = await it.keys.mintAgentKey(tx, { agentId: 'agent-1', ownerId: it.user.id, name: 'n' })
      await it.keys.revokeAgentKeys(tx, 'agent-1', created.id)
      return created
    })
    await assertRefused(it, old.key)
    await it.identify(`Bearer ${renewed.key}`)
    await it.db.atomically((tx) => it.keys.deleteAgentKeys(tx, 'agent-1'))
    await assertRefused(it, renewed.key)
    await it.identify(`Bearer ${other.key}`)
    const remaining = await it.keys.list(sessionOf(it.user), { all: false })
    assert.deepEqual(
      remaining.map(({ id }) => id),
      [other.id],
    )
  })

  test('another process refuses a revoked key from its next request', async () => {
    await using db = await open()
    const world = createWorld()
    await using first = await openIdentity(db, world)
    await using again = await db.openAgain()
    await using second = await openIdentity(again, world)
    const user = await first.addUser()
    const created = await first.keys.create(sessionOf(user), request())
    await second.identify(`Bearer ${created.key}`)
    await first.keys.revoke(sessionOf(user), created.id)
    await assertRefused(second, created.key)
  })
})
