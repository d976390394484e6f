import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentRow } from '@roost/contracts/agents/agent'
import { forEachDialect } from '../../test/dialects.ts'
import { type AgentsWorld, createShared, openAgents, until } from '../test/world.ts'

async function create(world: AgentsWorld, key: string, name: string, body: object = {}) {
  const reply = await world.request(key, 'POST', '/api/agents', { name, ...body })
  assert.equal(reply.status, 200, JSON.stringify(reply.json))
  return reply.json
}

async function share(world: AgentsWorld, key: string, name: string, email: string | null): Promise<void> {
  const reply = await world.request(key, 'POST', `/api/agents/${name}/share`, { email })
  assert.equal(reply.status, 200, JSON.stringify(reply.json))
}

forEachDialect((_name, open) => {
  test('the list shows own and shared agents, an admin sees all, newest first; tags filter by OR', async () => {
    await using world = await openAgents(await open())
    const [ann, ben, admin] = [await world.person(), await world.person('user'), await world.person('admin')]
    await create(world, ann.key, 'one', { tags: ['Red', 'blue'] })
    world.clock.set('2030-01-02T00:00:00.000Z')
    await create(world, ann.key, 'two', { tags: ['green'] })
    const names = async (key: string, query = '') => {
      const { json } = await world.request(key, 'GET', `/api/agents${query}`)
      return AgentRow.array()
        .parse(json)
        .filter((row) => !row.is_system)
        .map((row) => row.name)
    }
    assert.deepEqual(await names(ann.key), ['two', 'one'])
    assert.deepEqual(await names(ben.key), [])
    assert.deepEqual(await names(admin.key), ['two', 'one'])
    await share(world, ann.key, 'one', ben.email)
    assert.deepEqual(await names(ben.key), ['one'])
    assert.deepEqual(await names(ann.key, '?tags=red,nothing'), ['one'])
    assert.deepEqual(await names(ann.key, '?tags=green,%20BLUE'), ['two', 'one'])
    const tags = await world.request(ann.key, 'GET', '/api/tags')
    assert.deepEqual(tags.json.tags.map((each: { tag: string }) => each.tag).sort(), ['blue', 'green', 'red'])
    const bens = await world.request(ben.key, 'GET', '/api/agents/one')
    assert.equal(bens.json.is_shared, true)
    assert.equal(bens.json.can_delete, false)
    assert.equal('custom_instructions' in bens.json, false)
    assert.equal('shares' in bens.json, false)
  })

  test('404 an agent without access looks like an unknown one; 403 owner_required for a shared agent', async () => {
    await using world = await openAgents(await open())
    const [ann, ben] = [await world.person(), await world.person('user')]
    await create(world, ann.key, 'one')
    for (const path of ['', '/label', '/stats', '/logs', '/files', '/autonomy', '/info', '/activity']) {
      const hidden = await world.request(ben.key, 'GET', `/api/agents/one${path}`)
      const none = await world.request(ben.key, 'GET', `/api/agents/none${path}`)
      assert.equal(hidden.status, 404)
      assert.equal(hidden.json.error, 'agent_not_found')
      assert.equal(hidden.json.detail.replace('one', 'none'), none.json.detail)
    }
    await share(world, ann.key, 'one', ben.email)
    assert.equal((await world.request(ben.key, 'GET', '/api/agents/one')).status, 200)
    const refused = await world.request(ben.key, 'DELETE', '/api/agents/one')
    assert.deepEqual([refused.status, refused.json.error], [403, 'owner_required'])
  })

  test('an agent sees itself and permitted agents; 403 agent_not_permitted for others of its owner', async () => {
    await using world = await openAgents(await open())
    const [ann, ben] = [await world.person(), await world.person()]
    for (const name of ['self', 'peer', 'third']) await create(world, ann.key, name)
    await create(world, ben.key, 'foreign')
    await world.request(ann.key, 'POST', '/api/agents/self/permissions/peer')
    const key = await world.agentKey((await world.row('self')).id)
    const list = await world.request(key, 'GET', '/api/agents')
    assert.deepEqual(list.json.map((row: AgentRow) => row.name).sort(), ['peer', 'self'])
    assert.equal((await world.request(key, 'GET', '/api/agents/peer')).status, 200)
    const third = await world.request(key, 'GET', '/api/agents/third')
    assert.deepEqual([third.status, third.json.error], [403, 'agent_not_permitted'])
    assert.equal((await world.request(key, 'GET', '/api/agents/foreign')).status, 404)
    const stop = await world.request(key, 'POST', '/api/agents/self/stop')
    assert.deepEqual([stop.status, stop.json.error], [403, 'person_required'])
  })

  test('200 rename keeps volumes and key, restarts under the new name, and frees the old one', async () => {
    await using world = await openAgents(await open())
    const ann = await world.person()
    await create(world, ann.key, 'before')
    const before = await world.row('before')
    const volumes = await world.containers.listVolumes()
    const key = await world.agentKey(before.id)
    const renames: string[] = []
    world.area.hooks.onRenamed(
      async (_tx, { agent, newName }) => void renames.push(`${agent.name} ${newName}`),
    )
    const body = { new_name: 'after' }
    const reply = await world.request(ann.key, 'PUT', '/api/agents/before/rename', body)
    assert.equal(reply.status, 200)
    assert.deepEqual(
      [reply.json.old_name, reply.json.new_name, reply.json.was_running],
      ['before', 'after', true],
    )
    const after = await world.row('after')
    assert.equal(after.id, before.id)
    assert.equal(after.status, 'running')
    assert.equal(await world.agentKey(after.id), key)
    assert.deepEqual(await world.containers.listVolumes(), volumes)
    assert.deepEqual(
      (await world.containers.list()).map((state) => [state.name, state.status]),
      [['agent-after', 'running']],
    )
    assert.deepEqual(renames, ['before after'])
    assert.equal((await world.request(ann.key, 'GET', '/api/agents/before')).status, 404)
    assert.deepEqual(await world.eventTypes(), ['agent.created', 'agent.renamed'])
    await create(world, ann.key, 'before')
    assert.equal((await world.containers.listVolumes()).length, 6)
  })

  test('a rename is not a crash: the agent still runs after repeated renames', async () => {
    await using world = await openAgents(await open())
    const ann = await world.person()
    await create(world, ann.key, 'name-0')
    const { stop } = world.containers
    // Stopping takes time: the container ends later than requested.
    world.containers.stop = async (...of) => {
      await world.clock.advance(5)
      await stop(...of)
      await world.clock.advance(5)
    }
    for (let n = 0; n < 6; n += 1) {
      const body = { new_name: `name-${n + 1}` }
      const reply = await world.request(ann.key, 'PUT', `/api/agents/name-${n}/rename`, body)
      assert.deepEqual([reply.status, reply.json.was_running], [200, true])
    }
    const { status, held, container_id } = await world.row('name-6')
    assert.deepEqual([status, held], ['running', false])
    assert.equal((await world.containers.inspect(container_id ?? ''))?.status, 'running')
    assert.equal((await world.eventTypes()).includes('agent.exited'), false)
  })

  test('of concurrent renames of one agent the first succeeds, the others get 404', async () => {
    await using world = await openAgents(await open())
    const ann = await world.person()
    await create(world, ann.key, 'many')
    const { stop } = world.containers
    const admitted = Promise.withResolvers<void>()
    world.containers.stop = async (...of) => {
      await admitted.promise
      await stop(...of)
    }
    const renames = ['one', 'two', 'three'].map((new_name) =>
      world.request(ann.key, 'PUT', '/api/agents/many/rename', { new_name }),
    )
    // Every rename waits for the lock, or has found its agent, when this request is answered.
    await Promise.all(['one', 'two', 'three'].map(() => world.request(ann.key, 'GET', '/api/agents/many')))
    admitted.resolve()
    const replies = await Promise.all(renames)
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 404, 404])
    const winner = replies.find(({ status }) => status === 200)?.json.new_name
    assert.equal((await world.row(winner)).name, winner)
  })

  test('rename of a stopped agent leaves it stopped; it starts under the new name', async () => {
    await using world = await openAgents(await open())
    const ann = await world.person()
    await create(world, ann.key, 'before')
    await world.request(ann.key, 'POST', '/api/agents/before/stop')
    const reply = await world.request(ann.key, 'PUT', '/api/agents/before/rename', { new_name: 'after' })
    assert.equal(reply.json.was_running, false)
    assert.equal((await world.row('after')).status, 'stopped')
    assert.equal((await world.request(ann.key, 'POST', '/api/agents/after/start')).status, 200)
    assert.equal((await world.containers.list())[0]?.name, 'agent-after')
  })

  test('a rename refused with 409, 422 or 403 changes nothing', async () => {
    await using world = await openAgents(await open())
    const ann = await world.person()
    await create(world, ann.key, 'one')
    await create(world, ann.key, 'two')
    const container = (await world.row('one')).container_id
    const rename = (new_name: string) => world.request(ann.key, 'PUT', '/api/agents/one/rename', { new_name })
    for (const [name, status, error] of [
      ['two', 409, 'agent_exists'],
      ['one', 422, 'validation_error'],
      ['slots', 422, 'reserved_agent_name'],
      ['roost-x', 422, 'reserved_agent_name'],
      ['Bad Name', 422, 'validation_error'],
    ] as const) {
      const reply = await rename(name)
      assert.deepEqual([reply.status, reply.json.error], [status, error], name)
    }
    assert.equal((await world.row('one')).container_id, container)
    world.engine.refuse(true)
    assert.equal((await rename('three')).json.error, 'container_engine_error')
    world.engine.refuse(false)
    assert.ok(await world.row('one'))
  })

  test('eight concurrent renames to one name: one succeeds, and all agents keep running', async () => {
    await using world = await openAgents(await open())
    const admin = await world.person('admin')
    const names = Array.from({ length: 8 }, (_, index) => `racer-${index}`)
    for (const name of names) await create(world, admin.key, name)
    const replies = await Promise.all(
      names.map((name) =>
        world.request(admin.key, 'PUT', `/api/agents/${name}/rename`, { new_name: 'winner' }),
      ),
    )
    assert.equal(replies.filter((reply) => reply.status === 200).length, 1)
    assert.ok(replies.every((reply) => reply.status === 200 || reply.json.error === 'agent_exists'))
    await world.area.lifecycle.repair()
    const { json } = await world.request(admin.key, 'GET', '/api/agents')
    const rows = AgentRow.array()
      .parse(json)
      .filter((row) => !row.is_system)
    assert.ok(rows.every((row) => row.status === 'running'))
    assert.equal(rows.length, 8)
  })

  test('200 delete removes everything, runs hooks, and frees name and port immediately', async () => {
    await using world = await openAgents(await open())
    const ann = await world.person()
    await create(world, ann.key, 'gone', { tags: ['x'] })
    const { id } = await world.row('gone')
    const key = await world.agentKey(id)
    const deletedIds: string[] = []
    world.area.hooks.onDeleting(async (_tx, { agent }) => void deletedIds.push(agent.id))
    const reply = await world.request(ann.key, 'DELETE', '/api/agents/gone')
    assert.equal(reply.status, 200)
    assert.deepEqual(deletedIds, [id])
    await world.assertNothingLeft()
    assert.equal(await world.identity.keys.verifyKey(key), null)
    assert.ok(world.link.calls.some(({ agentId, t }) => agentId === id && t === 'disconnect'))
    assert.equal((await world.request(ann.key, 'DELETE', '/api/agents/gone')).status, 404)
    assert.equal((await create(world, ann.key, 'gone')).port, 2222)
    assert.deepEqual((await world.row('gone')).tags, [])
  })

  test('a deletion event lists who could see the agent until then', async () => {
    await using world = await openAgents(await open())
    const ann = await world.person()
    await create(world, ann.key, 'gone')
    await create(world, ann.key, 'caller')
    await share(world, ann.key, 'gone', 'ben@example.com')
    const caller = await world.row('caller')
    await world.request(ann.key, 'POST', '/api/agents/caller/permissions/gone')
    await world.request(ann.key, 'DELETE', '/api/agents/gone')
    const event = await world.db
      .withTables<{ outbox: { type: string; seen_by: string } }>()
      .selectFrom('outbox')
      .select('seen_by')
      .where('type', '=', 'agent.deleted')
      .executeTakeFirstOrThrow()
    assert.deepEqual(JSON.parse(event.seen_by), {
      user_ids: [ann.id],
      emails: ['ben@example.com'],
      agent_ids: [caller.id],
    })
  })

  test('200 delete while the engine is down: deleted for everyone, and cleaned up when it is back', async () => {
    await using world = await openAgents(await open())
    const ann = await world.person()
    await create(world, ann.key, 'gone')
    world.engine.refuse(true)
    assert.equal((await world.request(ann.key, 'DELETE', '/api/agents/gone')).status, 200)
    assert.equal((await world.request(ann.key, 'GET', '/api/agents/gone')).status, 404)
    world.engine.refuse(false)
    await world.area.lifecycle.repair()
    await world.assertNothingLeft()
  })

  test('of twenty concurrent deletions one returns 200, the others 404', async () => {
    await using world = await openAgents(await open())
    const ann = await world.person()
    await create(world, ann.key, 'gone')
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => world.request(ann.key, 'DELETE', '/api/agents/gone')),
    )
    assert.deepEqual(replies.map((reply) => reply.status).sort(), [
      200,
      ...Array.from({ length: 19 }, () => 404),
    ])
    await world.assertNothingLeft()
  })

  test('a label is trimmed and composed; blank clears it; an event is stored', async () => {
    await using world = await openAgents(await open())
    const ann = await world.person()
    await create(world, ann.key, 'one')
    const put = (label: unknown, more: object = {}) =>
      world.request(ann.key, 'PUT', '/api/agents/one/label', { label, ...more })
    assert.equal((await put('  Cafe\u0301  ')).json.label, 'Caf\u00e9')
    assert.equal((await world.request(ann.key, 'GET', '/api/agents/one/label')).json.label, 'Caf\u00e9')
    assert.equal((await put('😀'.repeat(120))).status, 200)
    assert.equal((await put('   ')).json.label, null)
    assert.equal((await put(null)).json.label, null)
    for (const bad of ['a\nb', '\u0085', 'x'.repeat(121), 5, ['a']])
      assert.equal((await put(bad)).status, 422)
    assert.equal((await put('a', { extra: 1 })).status, 422)
    assert.equal((await world.request(ann.key, 'PUT', '/api/agents/one/label', {})).status, 422)
    assert.ok((await world.eventTypes()).includes('agent.label_changed'))
  })

  test('tags: set, add, remove; repeating changes nothing; only people can change organizational ones', async () => {
    await using world = await openAgents(await open())
    const ann = await world.person()
    await create(world, ann.key, 'one')
    const agent = await world.row('one')
    const call = (method: string, path: string, body?: unknown) =>
      world.request(ann.key, method, `/api/agents/one/tags${path}`, body)
    assert.deepEqual((await call('PUT', '', { tags: ['b', ' A ', 'b'] })).json.tags, ['a', 'b'])
    assert.deepEqual((await call('POST', '/C')).json.tags, ['a', 'b', 'c'])
    assert.deepEqual((await call('POST', '/c')).json.tags, ['a', 'b', 'c'])
    assert.deepEqual((await call('DELETE', '/a')).json.tags, ['b', 'c'])
    assert.deepEqual((await call('DELETE', '/a')).json.tags, ['b', 'c'])
    assert.deepEqual((await call('GET', '')).json.tags, ['b', 'c'])
    assert.equal((await call('POST', '/dept-x')).json.error, 'human_only')
    assert.equal((await call('DELETE', '/Reports-To-Nobody')).json.error, 'human_only')
    assert.equal((await call('PUT', '', { tags: ['reports-to-ann'] })).json.error, 'human_only')
    assert.equal((await call('PUT', '', { tags: ['has space'] })).status, 422)
    const add = (before: readonly string[]) => [...before, 'dept-sales']
    assert.ok((await world.area.agentManagement.changeTags(agent, ann.session, add)).includes('dept-sales'))
    assert.equal((await call('PUT', '', { tags: [] })).json.error, 'human_only')
    assert.equal((await call('POST', '/dept-sales')).json.error, 'human_only')
    assert.equal((await call('DELETE', '/dept-sales')).json.error, 'human_only')
    assert.deepEqual((await world.request(ann.key, 'GET', '/api/tags')).json.tags.length, 2)
    const many = Array.from({ length: 99 }, (_, index) => `t${index}`)
    assert.equal((await call('PUT', '', { tags: [...many, 'dept-sales'] })).status, 200)
    assert.equal((await call('POST', '/one-too-many')).status, 422)
  })

  test('twenty tags added concurrently are all stored', async () => {
    await using world = await openAgents(await open())
    const ann = await world.person()
    await create(world, ann.key, 'one')
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        world.request(ann.key, 'POST', `/api/agents/one/tags/t${index}`),
      ),
    )
    assert.equal((await world.row('one')).tags.length, 20)
  })

  test('a change in one process is visible in another', async () => {
    const db = await open()
    const shared = createShared()
    await using world = await openAgents(db, { shared })
    await using other = await openAgents(await db.openAgain(), { shared })
    const ann = await world.person()
    await create(world, ann.key, 'one')
    const listed = async () => (await other.request(ann.key, 'GET', '/api/agents')).json as AgentRow[]
    await until(async () => (await listed()).length === 1, 'the agent is listed')
    await world.request(ann.key, 'PUT', '/api/agents/one/label', { label: 'L' })
    await until(async () => (await listed())[0]?.label === 'L', 'its label is listed')
  })

  test('an ephemeral agent is deleted after its lifetime or its last execution', async () => {
    const finished = new Map<string, number>()
    await using world = await openAgents(await open(), {
      needs: { finishedExecutions: async (id) => finished.get(id) ?? 0 },
    })
    const ann = await world.person()
    const ephemeral = { max_executions: 2, ttl_seconds: 60 }
    await create(world, ann.key, 'timed', { ephemeral })
    await create(world, ann.key, 'counted', { ephemeral })
    const sweep = world.area.loops.find((loop) => loop.name === 'agents.ephemeral')
    await sweep?.run(AbortSignal.timeout(60_000))
    assert.equal((await world.request(ann.key, 'GET', '/api/agents')).json.length, 2)
    finished.set((await world.row('counted')).id, 2)
    await sweep?.run(AbortSignal.timeout(60_000))
    assert.equal((await world.request(ann.key, 'GET', '/api/agents/counted')).status, 404)
    await world.clock.advance(60)
    await sweep?.run(AbortSignal.timeout(60_000))
    await world.assertNothingLeft()
  })
})
