import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { type AgentsWorld, openAgents } from '../test/world.ts'

forEachDialect((_name, open) => {
  /** Ann owns `one`, `two` and `three`; Ben owns `foreign`. */
  async function start() {
    const world = await openAgents(await open())
    const [ann, ben] = [await world.person(), await world.person()]
    for (const name of ['one', 'two', 'three']) await create(world, ann.key, name)
    await create(world, ben.key, 'foreign')
    const call = (method: string, path: string, body?: unknown, key = ann.key) =>
      world.request(key, method, `/api/agents/one/permissions${path}`, body)
    const keyOf = async (name: string) => world.agentKey((await world.row(name)).id)
    const asOne = async (path: string) => {
      const { status, json } = await world.request(await keyOf('one'), 'GET', path)
      return status === 200 ? 200 : json.error
    }
    const edges = async (key = ann.key) =>
      (await world.request(key, 'GET', '/api/agents/permissions-edges')).json.edges
    const dispose = () => world[Symbol.asyncDispose]()
    return { world, ann, ben, call, keyOf, asOne, edges, [Symbol.asyncDispose]: dispose }
  }
  const agent = (name: string, permitted: boolean) => ({
    name,
    status: 'running',
    type: 'business-assistant',
    permitted,
  })

  test('by default no agent may call another; an agent can always access itself', async () => {
    await using it = await start()
    const { json } = await it.call('GET', '')
    assert.equal(json.source_agent, 'one')
    assert.deepEqual(json.permitted_agents, [])
    assert.deepEqual(byName(json.available_agents), [agent('three', false), agent('two', false)])
    assert.deepEqual(await it.edges(), [])
    assert.equal(await it.asOne('/api/agents/one'), 200)
    assert.equal(await it.asOne('/api/agents/two'), 'agent_not_permitted')
    assert.equal(await it.asOne('/api/agents/foreign'), 'agent_not_found')
  })

  test('200 grants and withdrawals apply from the next call, in one direction; repeating changes nothing', async () => {
    await using it = await start()
    for (const _ of [1, 2]) {
      const { status, json } = await it.call('POST', '/two')
      assert.deepEqual([status, json], [200, { status: 'granted', source_agent: 'one', target_agent: 'two' }])
      assert.equal(await it.asOne('/api/agents/two'), 200)
    }
    assert.equal((await it.world.request(await it.keyOf('two'), 'GET', '/api/agents/one')).status, 403)
    assert.deepEqual(await it.edges(), [{ source: 'one', target: 'two' }])
    const { json: row } = await it.call('GET', '')
    assert.deepEqual(row.permitted_agents, [agent('two', true)])
    assert.deepEqual(byName(row.available_agents), [agent('three', false), agent('two', true)])
    const eventCount = async () =>
      (await it.world.eventTypes()).filter((type) => type === 'agent.settings_changed').length
    assert.equal(await eventCount(), 1)
    assert.deepEqual(await it.world.lastEvent('agent.settings_changed'), { setting: 'permissions' })
    for (const _ of [1, 2]) {
      const { json } = await it.call('DELETE', '/two')
      assert.deepEqual(json, { status: 'withdrawn', source_agent: 'one', target_agent: 'two' })
      assert.equal(await it.asOne('/api/agents/two'), 'agent_not_permitted')
    }
    assert.equal(await eventCount(), 2)
  })

  test('PUT replaces the whole set, regardless of order and duplicates', async () => {
    await using it = await start()
    const put = async (...permitted_agents: string[]) => (await it.call('PUT', '', { permitted_agents })).json
    assert.deepEqual(await put('two', 'three', 'two'), {
      status: 'updated',
      source_agent: 'one',
      permitted_count: 2,
    })
    assert.equal((await put('three')).permitted_count, 1)
    assert.deepEqual(await it.edges(), [{ source: 'one', target: 'three' }])
    assert.equal((await put()).permitted_count, 0)
    assert.deepEqual(await it.edges(), [])
  })

  test('404 alike for an unknown target and one without access; 422 for the agent itself; nothing changes', async () => {
    await using it = await start()
    await it.call('POST', '/two')
    const error = async (method: string, path: string, body?: unknown) =>
      (await it.call(method, path, body)).json
    for (const method of ['POST', 'DELETE']) {
      const hidden = await error(method, '/foreign')
      const none = await error(method, '/none')
      assert.deepEqual([hidden.error, none.error], ['agent_not_found', 'agent_not_found'])
      assert.equal(hidden.detail.replace('foreign', 'none'), none.detail)
      assert.deepEqual((await error(method, '/one')).detail[0].loc, ['path', 'target'])
    }
    assert.equal(
      (await error('PUT', '', { permitted_agents: ['three', 'foreign'] })).error,
      'agent_not_found',
    )
    const selfTarget = await error('PUT', '', { permitted_agents: ['three', 'one'] })
    assert.deepEqual(selfTarget.detail[0].loc, ['body', 'permitted_agents', 1])
    for (const bad of [{}, { permitted_agents: 'two' }, { permitted_agents: [1] }]) {
      assert.equal((await error('PUT', '', bad)).error, 'validation_error')
    }
    assert.deepEqual(await it.edges(), [{ source: 'one', target: 'two' }])
  })

  test("the owner sees, keeps and can withdraw an edge that an admin granted beyond the owner's access", async () => {
    await using it = await start()
    const admin = await it.world.person('admin')
    assert.equal((await it.call('POST', '/foreign', undefined, admin.key)).status, 200)
    assert.equal(await it.asOne('/api/agents/foreign'), 200)
    const { json } = await it.call('GET', '')
    assert.deepEqual(json.permitted_agents, [agent('foreign', true)])
    assert.deepEqual(byName(json.available_agents), [agent('three', false), agent('two', false)])
    const updated = await it.call('PUT', '', { permitted_agents: ['foreign', 'two'] })
    assert.equal(updated.json.permitted_count, 2)
    assert.equal((await it.call('DELETE', '/foreign')).status, 200)
    assert.equal((await it.call('POST', '/foreign')).status, 404)
    assert.equal(await it.asOne('/api/agents/foreign'), 'agent_not_found')
  })

  test('people see edges between agents they can access; an agent sees those of itself and its targets', async () => {
    await using it = await start()
    const { world, ann, ben } = it
    const admin = await world.person('admin')
    for (const target of ['two', 'three', 'foreign'])
      await it.call('POST', `/${target}`, undefined, admin.key)
    await world.request(ann.key, 'POST', '/api/agents/two/permissions/three')
    const all = ['foreign', 'three', 'two'].map((target) => ({ source: 'one', target }))
    const between = { source: 'two', target: 'three' }
    assert.deepEqual(await it.edges(admin.key), [...all, between])
    assert.deepEqual(await it.edges(), [...all.slice(1), between])
    assert.deepEqual(await it.edges(ben.key), [])
    assert.deepEqual(await it.edges(await it.keyOf('two')), [between])
    await world.request(ann.key, 'POST', '/api/agents/one/share', { email: ben.email })
    assert.deepEqual(await it.edges(ben.key), [all[0]])
    const { json } = await it.call('GET', '', undefined, ben.key)
    assert.deepEqual(
      [json.permitted_agents, json.available_agents],
      [[agent('foreign', true)], [agent('foreign', true)]],
    )
  })

  test('grants and withdrawals announce the calling agent, so that its sockets are rechecked', async () => {
    await using it = await start()
    const announced = new Set<string>()
    it.world.identity.changes.on((change) => announced.add(JSON.stringify(change)))
    await it.call('POST', '/two')
    const { id } = await it.world.row('one')
    assert.deepEqual([...announced], [JSON.stringify({ agent_id: id })])
    announced.clear()
    await it.call('POST', '/two')
    assert.equal(announced.size, 0)
    await it.call('PUT', '', { permitted_agents: [] })
    assert.equal(announced.size, 1)
  })

  test('a rename keeps edges; a deletion removes them, and a new agent of the name has none', async () => {
    await using it = await start()
    const { world, ann } = it
    await it.call('POST', '/two')
    await world.request(ann.key, 'POST', '/api/agents/two/permissions/one')
    await world.request(ann.key, 'PUT', '/api/agents/two/rename', { new_name: 'other' })
    assert.deepEqual(await it.edges(), [
      { source: 'one', target: 'other' },
      { source: 'other', target: 'one' },
    ])
    assert.equal(await it.asOne('/api/agents/other'), 200)
    await world.request(ann.key, 'DELETE', '/api/agents/other')
    assert.deepEqual(await it.edges(), [])
    await create(world, ann.key, 'other')
    assert.equal(await it.asOne('/api/agents/other'), 'agent_not_permitted')
    const rows = await world.db
      .withTables<{ agent_permissions: object }>()
      .selectFrom('agent_permissions')
      .selectAll()
      .execute()
    assert.deepEqual(rows, [])
  })

  test('twenty concurrent grants between agents are all stored', async () => {
    await using it = await start()
    const names = ['one', 'two', 'three']
    const pairs = names.flatMap((source) =>
      names.filter((name) => name !== source).map((target) => [source, target]),
    )
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const [source, target] = pairs[index % pairs.length] ?? []
        return it.world.request(it.ann.key, 'POST', `/api/agents/${source}/permissions/${target}`)
      }),
    )
    assert.ok(replies.every(({ status }) => status === 200))
    assert.equal((await it.edges()).length, 6)
  })

  test('granting an edge while its target is deleted leaves nothing behind', async () => {
    await using it = await start()
    const [granted, deleted] = await Promise.all([
      it.call('POST', '/two'),
      it.world.request(it.ann.key, 'DELETE', '/api/agents/two'),
    ])
    assert.ok([200, 404].includes(granted.status), String(granted.status))
    assert.equal(deleted.status, 200)
    assert.deepEqual(await it.edges(), [])
  })

  test('a run receives the names of callable agents', async () => {
    await using it = await start()
    await it.call('POST', '/two')
    const { id } = await it.world.row('one')
    assert.deepEqual(await it.world.area.runContexts.callableAgentNames(id), ['two'])
  })
})

async function create(world: AgentsWorld, key: string, name: string): Promise<void> {
  const reply = await world.request(key, 'POST', '/api/agents', { name })
  assert.equal(reply.status, 200, JSON.stringify(reply.json))
}

function byName<T extends { name: string }>(rows: T[]): T[] {
  return rows.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
