import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAgents } from '../../agents/test/world.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { createSystemAgent, systemAgentRoutes } from './index.ts'

forEachDialect((_name, open) => {
  test('exists from the first start, without a container; admins start it and see its status', async () => {
    await using world = await openWorld(open)
    const status = await world.call('GET', 'status', world.key)
    assert.equal(status.status, 200)
    const { created_at, ...known } = status.json
    assert.ok(created_at)
    assert.deepEqual(known, {
      exists: true,
      name: 'roost-system',
      status: 'stopped',
      container_id: null,
      is_system: true,
      image_state: 'unknown',
    })
    const started = await world.call('POST', 'restart')
    assert.deepEqual([started.json.status, started.json.steps_completed], ['running', ['started']])
    assert.equal((await world.call('GET', 'status')).json.image_state, 'current')
    const again = await world.call('POST', 'restart')
    assert.deepEqual([again.json.status, again.json.steps_completed], ['running', ['stopped', 'started']])
  })

  test('owns the only system key', async () => {
    await using world = await openWorld(open)
    await world.call('POST', 'restart')
    const caller = await world.identity.keys.verifyKey(await world.ownKey())
    assert.deepEqual(
      [caller?.key.scope, caller?.key.agent_id],
      ['system', (await world.row('roost-system')).id],
    )
    // It has an admin's access, except to routes for people.
    assert.equal((await world.call('GET', 'status', await world.ownKey())).status, 200)
    const refused = await world.call('POST', 'restart', await world.ownKey())
    assert.deepEqual([refused.status, refused.json.error], [403, 'human_only'])
    assert.equal((await world.systemKeys()).length, 1)
  })

  test('a reset creates an empty workspace and a new key, removes the old ones, and keeps it running', async () => {
    await using world = await openWorld(open)
    await world.call('POST', 'restart')
    const [key, before] = [await world.ownKey(), await world.containers.listVolumes()]
    const reply = await world.call('POST', 'reinitialize')
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    assert.deepEqual(
      [reply.json.status, reply.json.steps_completed, reply.json.warnings],
      ['running', ['stopped', 'workspace_emptied', 'key_renewed', 'started'], []],
    )
    const after = await world.containers.listVolumes()
    assert.equal(after.length, before.length)
    assert.deepEqual(
      after.filter((name) => before.includes(name)),
      [],
    )
    assert.equal((await world.containers.list()).length, 1)
    assert.equal(await world.identity.keys.verifyKey(key), null)
    assert.equal((await world.identity.keys.verifyKey(await world.ownKey()))?.key.scope, 'system')
    assert.equal((await world.systemKeys()).length, 1)
  })

  test('a reset keeps a stopped agent stopped; its next start has nothing of the old workspace', async () => {
    await using world = await openWorld(open)
    await world.call('POST', 'restart')
    const before = await world.containers.listVolumes()
    await world.request(world.key, 'POST', '/api/agents/roost-system/stop')
    const reply = await world.call('POST', 'reinitialize')
    assert.deepEqual(
      [reply.json.status, reply.json.steps_completed],
      ['stopped', ['workspace_emptied', 'key_renewed']],
    )
    assert.deepEqual([await world.containers.list(), await world.containers.listVolumes()], [[], []])
    assert.equal((await world.call('POST', 'restart')).json.status, 'running')
    const after = await world.containers.listVolumes()
    assert.deepEqual(
      after.filter((name) => before.includes(name)),
      [],
    )
  })

  test('twenty concurrent resets leave one container, three volumes and one key', async () => {
    await using world = await openWorld(open)
    await world.call('POST', 'restart')
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => world.call('POST', n % 2 === 0 ? 'reinitialize' : 'restart')),
    )
    assert.ok(replies.every(({ status, json }) => status === 200 || json.error === 'agent_busy'))
    assert.equal((await world.call('POST', 'restart')).status, 200)
    await world.area.lifecycle.repair()
    assert.equal((await world.containers.list()).length, 1)
    assert.equal((await world.containers.listVolumes()).length, 3)
    assert.equal((await world.systemKeys()).length, 1)
  })
})

/** A platform after setup: its first admin owns the key of the system agent. */
async function openWorld(open: OpenTestDb) {
  const late: { revoke?: Parameters<typeof createSystemAgent>[0]['keys'] } = {}
  const world = await openAgents(await open(), {
    routes: ({ agentRecords, lifecycle }) =>
      systemAgentRoutes(
        createSystemAgent({
          clock: { now: () => world.clock.now() },
          agentRecords,
          lifecycle,
          keys: { revokeAgentKeys: (...args) => (late.revoke ?? assert.fail()).revokeAgentKeys(...args) },
        }),
      ),
  })
  late.revoke = world.identity.keys
  const { id } = await world.identity.addUser('admin', 'admin')
  const account = (await world.identity.users.find(id)) ?? assert.fail('no such account')
  const entered = await world.identity.sessions.secondStep.enter(account, { mode: 'email' })
  assert.ok('session' in entered)
  const session = entered.session.access_token
  const { key } = await world.person('admin')
  return {
    ...world,
    key,
    call: (method: string, what: string, as = session) =>
      world.request(as, method, `/api/system-agent/${what}`),
    ownKey: async () => world.agentKey((await world.row('roost-system')).id),
    systemKeys: () =>
      world.db
        .withTables<{ mcp_keys: { scope: string; revoked_at: string | null } }>()
        .selectFrom('mcp_keys')
        .select('scope')
        .where('scope', '=', 'system')
        .where('revoked_at', 'is', null)
        .execute(),
  }
}
