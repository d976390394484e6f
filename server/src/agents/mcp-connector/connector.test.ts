import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { type AgentsWorld, openAgents } from '../test/world.ts'
import { snippetsOf } from './rules.ts'

forEachDialect((_name, open) => {
  async function start() {
    const world = await openAgents(await open())
    const ann = await world.person('creator')
    for (const name of ['one', 'two'])
      assert.equal((await world.request(ann.key, 'POST', '/api/agents', { name })).status, 200)
    const ask = (method: string, body?: unknown, key = ann.key, agent = 'one') =>
      world.request(key, method, `/api/agents/${agent}/connector`, body)
    const mint = (agent = 'one') => world.request(ann.key, 'POST', `/api/agents/${agent}/connector/key`)
    return { world, ann, ask, mint, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
  }

  async function canAccess(world: AgentsWorld, key: string, agent: string): Promise<boolean> {
    const caller = await world.identity.keys.verifyKey(key)
    return caller !== null && (await world.area.agentAccess.resolveAgent(caller, agent)) !== null
  }

  test('an agent offers nothing by default', async () => {
    await using it = await start()
    assert.deepEqual((await it.ask('GET')).json, {
      agent_name: 'one',
      enabled: false,
      exposed_playbooks: [],
      expose_all_playbooks: true,
      keys: [],
    })
  })

  test('a key can access only its agent, is shown once, and switches the connector on', async () => {
    await using it = await start()
    const { status, json } = await it.mint()
    assert.equal(status, 200)
    assert.equal(json.api_key, json.key)
    assert.equal(json.mcp_url, 'https://roost.example.org/mcp')
    assert.equal(await canAccess(it.world, json.key, 'one'), true)
    assert.equal(await canAccess(it.world, json.key, 'two'), false)
    const { json: after, bytes } = await it.ask('GET')
    assert.equal(after.enabled, true)
    assert.deepEqual(
      after.keys.map((key: { key_id: string; key_prefix: string }) => [key.key_id, key.key_prefix]),
      [[json.key_id, json.key_prefix]],
    )
    assert.ok(!bytes.toString().includes(json.key))
  })

  test('a key finds nothing while the connector is off, and works again when it is on', async () => {
    await using it = await start()
    const { key } = (await it.mint()).json
    for (const enabled of [false, true]) {
      assert.equal((await it.ask('PUT', { enabled })).json.enabled, enabled)
      assert.equal(await canAccess(it.world, key, 'one'), enabled)
    }
  })

  test('switching it off, revoking and deleting a key end what the keys have started', async () => {
    await using it = await start()
    const ids = [(await it.mint()).json.key_id, (await it.mint()).json.key_id]
    const holders = [...ids.map((id) => `key:${id}`), `user:${it.ann.id}`]
    const ends: [string, string[]][] = []
    it.world.area.hooks.onAccessEnded(async (_tx, { agent, isOf }) => {
      ends.push([agent.name, holders.filter(isOf)])
    })
    const { keys } = it.world.identity
    const owner = (await keys.verifyKey(it.ann.key)) ?? assert.fail('no caller')
    await it.ask('PUT', { enabled: false })
    await it.ask('PUT', { enabled: false })
    await keys.revoke(owner, ids[0])
    await keys.remove(owner, ids[0])
    await keys.remove(owner, ids[1])
    assert.deepEqual(ends, [
      ['one', holders.slice(0, 2)],
      ['one', holders.slice(0, 1)],
      ['one', holders.slice(1, 2)],
    ])
  })

  test('missing fields stay unchanged; 422 for an empty change', async () => {
    await using it = await start()
    await it.ask('PUT', { enabled: true, exposed_playbooks: ['a', 'b', 'a'], expose_all_playbooks: false })
    const { json } = await it.ask('PUT', { enabled: false })
    assert.deepEqual([json.exposed_playbooks, json.expose_all_playbooks], [['a', 'b'], false])
    assert.equal((await it.ask('PUT', {})).status, 422)
    assert.deepEqual(await it.world.lastEvent('agent.settings_changed'), { setting: 'connector' })
  })

  test('none of twenty concurrent changes undoes another', async () => {
    await using it = await start()
    await Promise.all([
      ...Array.from({ length: 10 }, () => it.ask('PUT', { enabled: true })),
      ...Array.from({ length: 10 }, () => it.ask('PUT', { exposed_playbooks: ['x'] })),
    ])
    const { json } = await it.ask('GET')
    assert.deepEqual([json.enabled, json.exposed_playbooks], [true, ['x']])
  })

  test('a connector may run exposed playbooks, and none while it is off', async () => {
    await using it = await start()
    const { id } = (await it.world.row('one')) ?? assert.fail()
    const offered = async () => ['a', 'b'].filter(await it.world.area.connectors.offer(id))
    assert.deepEqual(await offered(), [])
    await it.ask('PUT', { enabled: true })
    assert.deepEqual(await offered(), ['a', 'b'])
    await it.ask('PUT', { expose_all_playbooks: false, exposed_playbooks: ['b'] })
    assert.deepEqual(await offered(), ['b'])
  })

  test('deleting an agent revokes its keys, and a new agent of the name offers nothing', async () => {
    await using it = await start()
    const { key } = (await it.mint()).json
    await it.world.request(it.ann.key, 'DELETE', '/api/agents/one')
    assert.equal(await it.world.identity.keys.verifyKey(key), null)
    await it.world.request(it.ann.key, 'POST', '/api/agents', { name: 'one' })
    assert.equal((await it.ask('GET')).json.enabled, false)
  })
})

test('every snippet contains the address and the key, and JSON snippets are valid', () => {
  for (const { client, format, content } of snippetsOf('sales_bot', "https://x.org/it's", 'svc_mcp_k')) {
    assert.ok(content.includes('svc_mcp_k') && content.includes('sales-bot'), client)
    if (format === 'json') assert.ok(JSON.stringify(JSON.parse(content)).includes("https://x.org/it's"))
  }
})
