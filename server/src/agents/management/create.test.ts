import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CreateAgent } from '@roost/contracts/agents/registry'
import { forEachDialect } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'

forEachDialect((_name, open) => {
  test('200 a created agent runs, with the defaults, its own key and volumes', async () => {
    await using world = await openAgents(await open())
    const owner = await world.person()
    const reply = await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    const { name, status, port, runtime, resources, owner: named, is_owner, type } = reply.json
    assert.deepEqual(
      { name, status, port, runtime, resources, named, is_owner, type },
      {
        name: 'helper',
        status: 'running',
        port: 2222,
        runtime: 'claude-code',
        resources: { cpu: '2', memory: '4g' },
        named: owner.username,
        is_owner: true,
        type: 'business-assistant',
      },
    )
    const [state] = await world.containers.list()
    assert.equal(state?.name, 'agent-helper')
    assert.equal(state?.status, 'running')
    assert.equal(state?.id, reply.json.container_id)
    assert.equal((await world.containers.listVolumes()).length, 3)
    const { id } = await world.row('helper')
    const caller = await world.identity.keys.verifyKey(await world.agentKey(id))
    assert.equal(caller?.key.scope, 'agent')
    assert.equal(caller?.key.agent_id, id)
    assert.deepEqual(await world.eventTypes(), ['agent.created'])
    const details = await world.request(owner.key, 'GET', '/api/agents/helper')
    assert.equal(details.json.needs_recreate, false)
    assert.equal(details.json.execution_timeout_seconds, 3600)
    assert.equal(details.json.can_delete, true)
  })

  test('409 for all but one of twenty concurrent creations of one name, which leave nothing', async () => {
    await using world = await openAgents(await open())
    const owner = await world.person('admin')
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => world.request(owner.key, 'POST', '/api/agents', { name: 'wanted' })),
    )
    const statuses = replies.map((reply) => reply.status).sort()
    assert.deepEqual(statuses, [200, ...Array.from({ length: 19 }, () => 409)])
    assert.ok(replies.every((reply) => reply.status === 200 || reply.json.error === 'agent_exists'))
    assert.equal((await world.containers.list()).length, 1)
    assert.equal((await world.containers.listVolumes()).length, 3)
  })

  test('twenty concurrent creations get different ports; 0 when the range is exhausted', async () => {
    await using world = await openAgents(await open(), { sshPorts: { first: 2222, last: 2236 } })
    const owner = await world.person('admin')
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        world.request(owner.key, 'POST', '/api/agents', { name: `many-${index}` }),
      ),
    )
    const ports = replies.map((reply) => reply.json.port as number)
    assert.deepEqual(new Set(ports.filter((port) => port > 0)).size, 15)
    assert.equal(ports.filter((port) => port === 0).length, 5)
  })

  test('403 the quota also applies to concurrent creations', async () => {
    await using world = await openAgents(await open(), { quota: 3 })
    const owner = await world.person('creator')
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        world.request(owner.key, 'POST', '/api/agents', { name: `own-${index}` }),
      ),
    )
    assert.equal(replies.filter((reply) => reply.status === 200).length, 3)
    assert.ok(replies.every((reply) => reply.status === 200 || reply.json.error === 'agent_quota_exceeded'))
  })

  for (const call of ['createVolume', 'create', 'start', 'ensureNetwork'] as const) {
    test(`500 container_engine_error: a failing ${call} leaves nothing, and the name is free`, async () => {
      await using world = await openAgents(await open())
      const owner = await world.person()
      world.engine.failNext(call, 'engine_fault')
      const body = { name: 'unlucky', template: 'business-assistant', tags: ['one'] }
      const reply = await world.request(owner.key, 'POST', '/api/agents', body)
      assert.equal(reply.status, 500)
      assert.equal(reply.json.error, 'container_engine_error')
      await world.assertNothingLeft()
      assert.equal((await world.request(owner.key, 'GET', '/api/agents/unlucky')).status, 404)
      assert.deepEqual(await world.eventTypes(), [])
      assert.equal((await world.request(owner.key, 'POST', '/api/agents', body)).status, 200)
    })
  }

  test('one creation per idempotency key: 409 while it runs, then the first reply; a failure frees the key', async () => {
    await using world = await openAgents(await open())
    const owner = await world.person()
    const create = (name: string, key: string) =>
      world.request(owner.key, 'POST', '/api/agents', { name }, { 'idempotency-key': key })
    world.engine.failNext('create', 'engine_fault')
    assert.equal((await create('helper', 'k1')).status, 500)
    const replies = await Promise.all(Array.from({ length: 8 }, () => create('helper', 'k1')))
    const first = replies.filter((reply) => reply.status === 200 && !reply.headers['x-idempotent-replay'])
    assert.equal(first.length, 1)
    assert.ok(
      replies.every((reply) => reply.status === 200 || reply.json.error === 'request_in_progress'),
      JSON.stringify(replies.map((reply) => reply.json.error)),
    )
    const again = await create('helper', 'k1')
    assert.equal(again.headers['x-idempotent-replay'], 'true')
    assert.deepEqual(again.json, first[0]?.json)
    assert.equal((await create('helper', 'k2')).json.error, 'agent_exists')
    assert.equal((await world.containers.list()).length, 1)
  })

  test('409 for the key of a deleted agent, even if another agent has its name now', async () => {
    await using world = await openAgents(await open())
    const owner = await world.person()
    const create = (key: string) =>
      world.request(owner.key, 'POST', '/api/agents', { name: 'helper' }, { 'idempotency-key': key })
    assert.equal((await create('k1')).status, 200)
    assert.equal((await create('k1')).status, 200)
    assert.equal((await world.request(owner.key, 'DELETE', '/api/agents/helper')).status, 200)
    const repeated = async () => {
      const { status, json } = await create('k1')
      return [status, json.error, json.detail]
    }
    const detail =
      'The agent "helper" that this request created was deleted. Send a new Idempotency-Key to create another one.'
    assert.deepEqual(await repeated(), [409, 'created_resource_gone', detail])
    assert.equal((await create('k2')).status, 200)
    assert.deepEqual(await repeated(), [409, 'created_resource_gone', detail])
    assert.equal(
      (await world.request(owner.key, 'PUT', '/api/agents/helper/rename', { new_name: 'aide' })).status,
      200,
    )
    assert.equal((await create('k2')).status, 200, 'a renamed agent still exists')
  })

  test('content is filled in before anybody sees the agent; a failure of it leaves nothing', async () => {
    await using world = await openAgents(await open())
    const owner = await world.person()
    const { agentManagement, agentRecords } = world.area
    const body = CreateAgent.parse({ name: 'filled' })
    for (const failing of ['fill', 'publish'] as const) {
      let seen = 0
      const creating = agentManagement.create(owner.session, body, undefined, {
        columns: { mcp_exposed: 1 },
        async fill(agent) {
          assert.equal(agent.mcp_exposed, true)
          seen += (await agentRecords.all()).filter(({ name }) => name === 'filled').length
          if (failing === 'fill') throw new Error('the archive is broken')
        },
        async publish() {
          throw new Error('a part cannot be stored')
        },
      })
      await assert.rejects(creating, /broken|cannot be stored/)
      assert.equal(seen, 0)
      await world.assertNothingLeft()
    }
  })

  test('a failing hook undoes the creation', async () => {
    await using world = await openAgents(await open())
    const owner = await world.person()
    world.area.hooks.onCreated(async () => {
      throw new Error('no schedules today')
    })
    const reply = await world.request(owner.key, 'POST', '/api/agents', { name: 'hooked' })
    assert.equal(reply.status, 500)
    assert.equal(reply.json.error, 'internal_error')
    await world.assertNothingLeft()
  })
})
