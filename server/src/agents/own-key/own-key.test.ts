import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'

forEachDialect((_name, open) => {
  async function start() {
    const world = await openAgents(await open())
    const ann = await world.person('creator')
    assert.equal((await world.request(ann.key, 'POST', '/api/agents', { name: 'one' })).status, 200)
    const account = await world.identity.users.find(ann.id)
    assert.ok(account)
    const { access_token } = await world.identity.sessions.issue(account, { mode: 'email' })
    const ask = (method: string, path = '', key = access_token) =>
      world.request(key, method, `/api/agents/one/mcp-key${path}`)
    const row = async () => (await world.row('one')) ?? assert.fail('no agent')
    return { world, ann, ask, row, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
  }

  test('200 the health of the key, never the key itself', async () => {
    await using it = await start()
    const { id, agent_key_id } = await it.row()
    const key = await it.world.agentKey(id)
    const { status, json, bytes } = await it.ask('GET')
    assert.equal(status, 200)
    assert.deepEqual(
      [json.exists, json.key_id, json.scope, json.health, json.rotatable],
      [true, agent_key_id, 'agent', 'never_used', true],
    )
    assert.equal(json.key_prefix, key.slice(0, 12))
    assert.ok(!bytes.toString().includes(key))
    await it.world.identity.keys.verifyKey(key)
    assert.equal((await it.ask('GET')).json.health, 'active')
  })

  test('403 human_only for every key, the owner’s included', async () => {
    await using it = await start()
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/verify'],
      ['POST', '/regenerate'],
    ] as const) {
      const { status, json } = await it.ask(method, path, it.ann.key)
      assert.deepEqual([status, json.error], [403, 'human_only'])
    }
  })

  test('a new key: the old one stops working immediately, and a running agent is recreated with it', async () => {
    await using it = await start()
    const before = await it.row()
    const oldKey = await it.world.agentKey(before.id)
    const { status, json } = await it.ask('POST', '/regenerate')
    assert.equal(status, 200, JSON.stringify(json))
    assert.equal(json.delivery, 'recreated')
    assert.equal(json.superseded_key_id, before.agent_key_id)
    const after = await it.row()
    assert.equal(after.agent_key_id, json.key_id)
    assert.equal(after.applied?.agent_key_id, json.key_id)
    assert.notEqual(after.container_id, before.container_id)
    assert.equal(after.status, 'running')
    const { keys } = it.world.identity
    assert.equal(await keys.verifyKey(oldKey), null)
    const newKey = await it.world.agentKey(after.id)
    assert.equal((await keys.verifyKey(newKey))?.key.id, json.key_id)
  })

  test('a new key is not a crash: an agent keeps running after repeated regeneration', async () => {
    await using it = await start()
    const { stop } = it.world.containers
    it.world.containers.stop = async (...of) => {
      await it.world.clock.advance(5)
      await stop(...of)
      await it.world.clock.advance(5)
    }
    for (let count = 0; count < 6; count += 1) {
      assert.equal((await it.ask('POST', '/regenerate')).json.delivery, 'recreated')
    }
    const { status, held } = await it.row()
    assert.deepEqual([status, held], ['running', false])
    assert.equal((await it.world.eventTypes()).includes('agent.exited'), false)
  })

  test('a stopped agent gets its new key at the next start', async () => {
    await using it = await start()
    await it.world.request(it.ann.key, 'POST', '/api/agents/one/stop')
    const { json } = await it.ask('POST', '/regenerate')
    assert.equal(json.delivery, 'next_start')
    assert.equal((await it.ask('GET')).json.health, 'env_mismatch')
    const started = await it.world.request(it.ann.key, 'POST', '/api/agents/one/start')
    assert.deepEqual([started.json.recreated, started.json.recreate_reason], [true, 'agent_key'])
    assert.equal((await it.ask('GET')).json.health, 'never_used')
  })

  test('of ten concurrently created keys exactly one is valid', async () => {
    await using it = await start()
    await it.world.request(it.ann.key, 'POST', '/api/agents/one/stop')
    const replies = await Promise.all(Array.from({ length: 10 }, () => it.ask('POST', '/regenerate')))
    const { agent_key_id } = await it.row()
    const works: string[] = []
    for (const { json } of replies)
      if ((await it.world.identity.keys.summary(json.key_id))?.revoked_at === null) works.push(json.key_id)
    assert.deepEqual(works, [agent_key_id])
  })

  test("verify reports the workspace's entries; an unreachable agent is unavailable", async () => {
    await using it = await start()
    const own = await it.world.agentKey((await it.row()).id)
    const verifyWith = async (file: unknown) => {
      const text = typeof file === 'string' ? file : JSON.stringify({ mcpServers: file })
      const data_base64 = Buffer.from(text).toString('base64')
      const read = () => ({ data_base64, size: text.length, eof: true })
      it.world.link.link((await it.row()).id, { 'fs.read': read })
      const { status, json, bytes } = await it.ask('POST', '/verify')
      assert.equal(status, 200, JSON.stringify(json))
      assert.ok(!bytes.toString().includes(own))
      return json
    }
    const bearer = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } })
    assert.equal((await verifyWith({ roost: bearer(own) })).verdict, 'ok')
    assert.equal((await verifyWith({ roost: bearer('$' + '{ROOST_AGENT_KEY}') })).verdict, 'ok')
    assert.equal((await verifyWith({ roost: bearer('$' + '{ROOST_MCP_KEY:-}') })).verdict, 'ok')
    assert.equal((await verifyWith({ roost: { url: 'x' } })).verdict, 'not_configured')
    assert.equal(
      (await verifyWith({ other: { url: 'https://elsewhere.example.org' } })).verdict,
      'not_configured',
    )
    assert.equal((await verifyWith('no JSON')).verdict, 'not_configured')
    const foreign = await verifyWith({ roost: bearer(own), mine: bearer(it.ann.key) })
    assert.equal(foreign.verdict, 'foreign_user_key')
    assert.deepEqual(
      foreign.entries.map((entry: { verdict: string; key_scope: string }) => [
        entry.verdict,
        entry.key_scope,
      ]),
      [
        ['ok', 'agent'],
        ['foreign_user_key', 'user'],
      ],
    )
    assert.equal((await verifyWith({ again: bearer(own) })).verdict, 'shadow_entry')
    assert.equal((await verifyWith({ roost: bearer(`svc_mcp_${'x'.repeat(43)}`) })).verdict, 'unknown_key')
    await it.world.request(it.ann.key, 'POST', '/api/agents/one/stop')
    assert.equal((await it.ask('POST', '/verify')).json.verdict, 'unavailable')
  })
})
