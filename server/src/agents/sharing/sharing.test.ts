import assert from 'node:assert/strict'
import { test } from 'node:test'
import { streamExecution } from '@roost/contracts/runs/executions'
import { agentRoute, streamAnswer } from '../../http/route.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { type AgentsWorld, openAgents } from '../test/world.ts'

forEachDialect((_name, open) => {
  /** Ann owns the agent `one`; Ben is another creator. */
  async function start(options: Parameters<typeof openAgents>[1] = {}) {
    const world = await openAgents(await open(), options)
    const [ann, ben] = [
      await world.person('creator', 'ann@example.com'),
      await world.person('creator', 'ben@example.com'),
    ]
    await create(world, ann.key, 'one')
    const call = (key: string, method: string, path: string, body?: unknown) =>
      world.request(key, method, `/api/agents/one${path}`, body)
    const share = (email: unknown, key = ann.key) => call(key, 'POST', '/share', { email })
    return { world, ann, ben, call, share, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
  }

  test('200 a share grants access immediately, stores an event, and lets the address sign in', async () => {
    await using it = await start()
    assert.equal((await it.call(it.ben.key, 'GET', '')).status, 404)
    const { status, json } = await it.share(' BEN@Example.com ')
    assert.equal(status, 200)
    const { id, created_at, ...rest } = json
    assert.equal(typeof id, 'string')
    assert.equal(created_at, '2030-01-01T00:00:00.000Z')
    assert.deepEqual(rest, {
      agent_name: 'one',
      shared_with_email: 'ben@example.com',
      access: 'write',
      shared_by_id: it.ann.id,
      shared_by_email: 'ann@example.com',
    })
    assert.equal((await it.call(it.ben.key, 'GET', '')).json.is_shared, true)
    assert.deepEqual(await it.world.lastEvent('agent.shared'), {
      event: 'agent_shared',
      data: { name: 'one', shared_with: 'ben@example.com', access: 'write' },
    })
    const entry = await entryOf(it.world, 'ben@example.com')
    assert.deepEqual(
      [entry?.source, entry?.default_role, entry?.added_by],
      ['agent_sharing', 'user', 'ann@example.com'],
    )
    const details = await it.call(it.ann.key, 'GET', '')
    assert.equal(details.json.can_share, true)
    assert.deepEqual(details.json.shares, [json])
    assert.deepEqual((await it.call(it.ann.key, 'GET', '/shares')).json, [json])
  })

  test('an address already on the allow list keeps its entry', async () => {
    await using it = await start()
    await it.world.allowList.add({ email: 'ben@example.com', default_role: 'operator', added_by: 'admin' })
    assert.equal((await it.share('ben@example.com')).status, 200)
    const entry = await entryOf(it.world, 'ben@example.com')
    assert.deepEqual([entry?.source, entry?.default_role], ['manual', 'operator'])
  })

  test('400 self_share, 409 already_shared, 422 for an invalid address; nothing changes', async () => {
    await using it = await start()
    const refused = async (email: unknown) => {
      const { status, json } = await it.share(email)
      return [status, json.error]
    }
    assert.deepEqual(await refused('Ann@Example.com'), [400, 'self_share'])
    for (const bad of ['ben', 'ben@', '', 7, null, `${'x'.repeat(250)}@example.com`, 'a@b.c\nbcc: d@e.f']) {
      assert.deepEqual(await refused(bad), [422, 'validation_error'], String(bad))
    }
    assert.equal((await it.share('ben@example.com')).status, 200)
    assert.deepEqual(await refused('BEN@example.com'), [409, 'already_shared'])
    assert.equal((await it.call(it.ann.key, 'GET', '/shares')).json.length, 1)
    assert.deepEqual(await it.world.eventTypes(), ['agent.created', 'agent.shared'])
    assert.equal(await entryOf(it.world, 'ann@example.com'), null)
  })

  test("an admin can share another person's agent, but not with its owner", async () => {
    await using it = await start()
    const admin = await it.world.person('admin', 'root@example.com')
    assert.equal((await it.share('ann@example.com', admin.key)).json.error, 'self_share')
    const { json } = await it.share('ben@example.com', admin.key)
    assert.deepEqual([json.shared_by_id, json.shared_by_email], [admin.id, 'root@example.com'])
  })

  test('of twenty concurrent shares with one address one is created', async () => {
    await using it = await start()
    const replies = await Promise.all(Array.from({ length: 20 }, () => it.share('ben@example.com')))
    const accepted = replies.filter(({ status }) => status === 200)
    assert.equal(accepted.length, 1)
    assert.ok(replies.every(({ status, json }) => status === 200 || json.error === 'already_shared'))
    assert.equal((await it.world.row('one')).shares.length, 1)
  })

  test('a removed share ends access immediately, in any spelling of the address; then 404 not_found', async () => {
    await using it = await start()
    await it.share('ben@example.com')
    const remove = () => it.call(it.ann.key, 'DELETE', '/share/Ben%40Example.com')
    assert.equal((await remove()).status, 200)
    assert.deepEqual(await it.world.lastEvent('agent.unshared'), {
      event: 'agent_unshared',
      data: { name: 'one', removed_user: 'ben@example.com' },
    })
    assert.equal((await it.call(it.ben.key, 'GET', '')).status, 404)
    assert.deepEqual((await it.world.request(it.ben.key, 'GET', '/api/agents')).json, [])
    const again = await remove()
    assert.deepEqual([again.status, again.json.error], [404, 'not_found'])
    assert.equal((await it.call(it.ann.key, 'DELETE', '/share/nobody')).json.error, 'not_found')
  })

  test('the owner changes what a share permits; it applies to the next request', async () => {
    await using it = await start()
    await it.share('ben@example.com')
    const put = (access: string, key = it.ann.key, email = 'Ben%40Example.com') =>
      it.call(key, 'PUT', `/share/${email}`, { access })
    const ownAccess = async () => (await it.call(it.ben.key, 'GET', '')).json.workspace_access
    const mkdir = async () =>
      (await it.call(it.ben.key, 'POST', '/files/mkdir', { path: '.roost/x' })).json.error
    assert.equal(await ownAccess(), 'write')
    assert.equal(await mkdir(), 'protected_path')
    const changed = await put('read')
    assert.deepEqual([changed.status, changed.json.access], [200, 'read'])
    assert.equal(await ownAccess(), 'read')
    assert.equal(await mkdir(), 'workspace_read_only')
    assert.deepEqual((await it.world.lastEvent('agent.shared'))?.data, {
      ...{ name: 'one', shared_with: 'ben@example.com', access: 'read' },
    })
    assert.equal((await put('owner')).status, 422)
    assert.equal((await put('write', it.ben.key)).json.error, 'owner_required')
    assert.equal((await put('write', it.ann.key, 'other@example.com')).json.error, 'not_found')
    assert.equal((await put('write')).status, 200)
    assert.equal(await ownAccess(), 'write')
  })

  test('strangers read by default; only the owner changes it', async () => {
    await using it = await start()
    await it.share('ben@example.com')
    const put = (access: string, key = it.ann.key) => it.call(key, 'PUT', '/strangers', { access })
    assert.deepEqual((await it.call(it.ben.key, 'GET', '/strangers')).json, {
      agent_name: 'one',
      access: 'read',
    })
    assert.equal((await put('write', it.ben.key)).json.error, 'owner_required')
    assert.equal((await put('owner')).status, 422)
    for (const access of ['none', 'write', 'read'])
      assert.deepEqual((await put(access)).json, { agent_name: 'one', access })
  })

  test('access list: the owner, then people by newest share; pending until they sign in', async () => {
    const lastUse = new Map<string, string>()
    await using it = await start({ needs: { lastUseBy: async () => lastUse } })
    await it.call(it.ann.key, 'POST', '/share', { email: 'ben@example.com', access: 'read' })
    it.world.clock.set('2030-01-02T00:00:00.000Z')
    await it.share('new@example.com')
    lastUse.set(it.ben.id, '2030-01-03T00:00:00.000Z')
    const { json } = await it.call(it.ann.key, 'GET', '/access')
    const nobody = { username: null, role: null, last_active_at: null, status: 'pending' }
    const creator = { role: 'creator', status: 'active' }
    assert.deepEqual(json, [
      {
        email: 'ann@example.com',
        username: 'ann@example.com',
        relation: 'owner',
        access: 'owner',
        last_active_at: null,
        ...creator,
      },
      { email: 'new@example.com', relation: 'shared', access: 'write', ...nobody },
      {
        ...{ email: 'ben@example.com', username: 'ben@example.com', relation: 'shared' },
        access: 'read',
        last_active_at: '2030-01-03T00:00:00.000Z',
        ...creator,
      },
    ])
    assert.deepEqual(
      (await it.call(it.ann.key, 'GET', '/shares')).json.map(
        (row: { shared_with_email: string }) => row.shared_with_email,
      ),
      ['new@example.com', 'ben@example.com'],
    )
  })

  test('403 system_agent_protected: the system agent cannot be shared', async () => {
    await using it = await start()
    const admin = await it.world.person('admin')
    const reply = await it.world.request(admin.key, 'POST', '/api/agents/roost-system/share', {
      email: 'ben@example.com',
    })
    assert.deepEqual([reply.status, reply.json.error], [403, 'system_agent_protected'])
  })

  test('a rename keeps shares; a deletion removes them, and a new agent of the name has none', async () => {
    await using it = await start()
    await it.share('ben@example.com')
    await it.world.request(it.ann.key, 'PUT', '/api/agents/one/rename', { new_name: 'two' })
    assert.equal((await it.world.request(it.ben.key, 'GET', '/api/agents/two')).status, 200)
    await it.world.request(it.ann.key, 'DELETE', '/api/agents/two')
    await it.world.assertNothingLeft()
    await create(it.world, it.ann.key, 'two')
    assert.equal((await it.world.request(it.ben.key, 'GET', '/api/agents/two')).status, 404)
  })

  test("removing a share removes the edges from the person's own agents, and no others", async () => {
    await using it = await start()
    const { world, ann, ben } = it
    await it.share('ben@example.com')
    await create(world, ben.key, 'bens')
    await create(world, ben.key, 'helper')
    await create(world, ann.key, 'anns')
    const grant = (key: string, source: string, target: string) =>
      world.request(key, 'POST', `/api/agents/${source}/permissions/${target}`)
    for (const [key, source, target] of [
      [ben.key, 'bens', 'one'],
      [ben.key, 'bens', 'helper'],
      [ann.key, 'anns', 'one'],
    ] as const) {
      assert.equal((await grant(key, source, target)).status, 200)
    }
    const bens = await world.agentKey((await world.row('bens')).id)
    assert.equal((await world.request(bens, 'GET', '/api/agents/one')).status, 200)
    const announced = new Set<string>()
    world.identity.changes.on((change) => announced.add(JSON.stringify(change)))
    await it.call(ann.key, 'DELETE', '/share/ben@example.com')
    assert.equal((await world.request(bens, 'GET', '/api/agents/one')).status, 404)
    assert.deepEqual([...announced], [JSON.stringify({ agent_id: (await world.row('bens')).id })])
    assert.equal((await world.request(bens, 'GET', '/api/agents/helper')).status, 200)
    const anns = await world.agentKey((await world.row('anns')).id)
    assert.equal((await world.request(anns, 'GET', '/api/agents/one')).status, 200)
  })

  test('an edge granted while the share is removed does not outlive it', async () => {
    await using it = await start()
    const { world, ann, ben } = it
    for (const number of [0, 1, 2, 3, 4]) await create(world, ben.key, `bens-${number}`)
    await it.share('ben@example.com')
    await Promise.all([
      ...[0, 1, 2, 3, 4].map((number) =>
        world.request(ben.key, 'POST', `/api/agents/bens-${number}/permissions/one`),
      ),
      it.call(ann.key, 'DELETE', '/share/ben@example.com'),
    ])
    const { json } = await world.request(
      (await world.person('admin')).key,
      'GET',
      '/api/agents/permissions-edges',
    )
    assert.deepEqual(json, { edges: [] })
  })

  test('a removed share ends the streams of that person only', async () => {
    const opened = new Map<string, AbortSignal>()
    const runEnds = Promise.withResolvers<void>()
    const watch = agentRoute(streamExecution, async ({ caller, request }) => {
      async function* events() {
        const { signal } = request
        opened.set(caller.user.username, signal)
        yield ': here\n\n'
        const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        await Promise.race([aborted, runEnds.promise])
      }
      return streamAnswer('text/event-stream', events())
    })
    await using it = await start({ routes: [watch] })
    const { world, ann, ben, call } = it
    await it.share('ben@example.com')
    const bens = call(ben.key, 'GET', '/executions/x/stream')
    const anns = call(ann.key, 'GET', '/executions/x/stream')
    while (opened.size < 2) await new Promise(setImmediate)
    await world.events.relaying.pass()
    assert.equal(opened.get(ben.username)?.aborted, false)
    await call(ann.key, 'DELETE', '/share/ben@example.com')
    await world.events.relaying.pass()
    assert.equal((await bens).bytes.toString(), ': here\n\n')
    assert.equal(opened.get(ben.username)?.aborted, true)
    assert.equal(opened.get(ann.username)?.aborted, false)
    runEnds.resolve()
    assert.equal((await anns).status, 200)
  })
})

async function entryOf(world: AgentsWorld, address: string) {
  return (await world.allowList.list()).find(({ email }) => email === address) ?? null
}

async function create(world: AgentsWorld, key: string, name: string): Promise<void> {
  const reply = await world.request(key, 'POST', '/api/agents', { name })
  assert.equal(reply.status, 200, JSON.stringify(reply.json))
}
