import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { createShared, openAgents } from '../test/world.ts'

const name = 'roost-system'

forEachDialect((_name, open) => {
  test('the system agent is created once, by the first process, and is stopped', async () => {
    const db = await open()
    const shared = createShared()
    const again = await db.openAgain()
    await using one = await openAgents(db, { shared })
    await using other = await openAgents(again, { shared })
    const admin = await one.person('admin')
    const list = await other.request(admin.key, 'GET', '/api/agents')
    assert.deepEqual(
      list.json.map((row: Record<string, unknown>) => [row.name, row.status, row.is_system, row.port]),
      [[name, 'stopped', true, 0]],
    )
    assert.deepEqual(await one.containers.list(), [])
    const creator = await one.person('creator')
    assert.equal((await one.request(creator.key, 'GET', `/api/agents/${name}`)).status, 404)
  })

  test('403 system_agent_protected: delete, rename, read-only, expose', async () => {
    await using world = await openAgents(await open())
    const admin = await world.person('admin')
    for (const [method, path, body] of [
      ['DELETE', ''],
      ['PUT', '/rename', { new_name: 'mine' }],
      ['PUT', '/read-only', { enabled: true }],
      ['PUT', '/mcp-exposed', { enabled: true }],
    ] as const) {
      const reply = await world.request(admin.key, method, `/api/agents/${name}${path}`, body)
      assert.deepEqual([reply.status, reply.json.error], [403, 'system_agent_protected'], `${method} ${path}`)
    }
    assert.equal((await world.request(admin.key, 'GET', `/api/agents/${name}`)).json.can_delete, false)
  })

  test('its key is created at its first start', async () => {
    await using world = await openAgents(await open())
    const admin = await world.person('admin')
    const start = () => world.request(admin.key, 'POST', `/api/agents/${name}/start`)
    assert.equal((await start()).json.error, 'not_configured')
    await world.identity.addUser('admin', 'admin')
    const reply = await start()
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    const { id } = await world.row(name)
    const caller = await world.identity.keys.verifyKey(await world.agentKey(id))
    assert.equal(caller?.key.agent_id, id)
    await world.request(admin.key, 'POST', `/api/agents/${name}/stop`)
    assert.equal((await start()).json.recreated, false)
  })
})
