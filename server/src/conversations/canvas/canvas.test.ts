import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { agentFact } from '../../test/run-platform.ts'
import { canvasStore } from './store.ts'
import { markdown, openCanvasWorld, path } from './test/world.ts'

const hello = { title: 'State', blocks: [markdown('# Hello')] }
const storedBlock = { id: 'b1', kind: 'markdown', title: null, slot: null, payload: { markdown: '# Hello' } }

forEachDialect((_name, open) => {
  test('an agent writes a canvas in a run; reads return it unchanged, and the event names it', async () => {
    await using world = await openCanvasWorld(open)
    const { id: execution_id } = await world.run(world.agentId)
    const { status, json } = await world.put('main', { ...hello, audience: 'roster', execution_id })
    assert.equal(status, 200, JSON.stringify(json))
    const { created_at, updated_at, ...rest } = json
    assert.equal(created_at, updated_at)
    assert.deepEqual(rest, {
      agent_name: 'scout',
      canvas_id: 'main',
      title: 'State',
      audience: 'roster',
      template: null,
      pinned: false,
      stale: false,
      updated_by_execution_id: execution_id,
      blocks: [storedBlock],
    })
    assert.deepEqual(await world.get('/main'), json)
    const { blocks: _, ...summary } = json
    assert.deepEqual(await world.get(), [summary])
    assert.deepEqual(await world.lastEvent('canvas.updated'), { canvas_id: 'main', title: 'State' })
  })

  test('replacing a canvas keeps only pin and creation time; without a run it names no execution', async () => {
    await using world = await openCanvasWorld(open)
    const { id: execution_id } = await world.run(world.agentId)
    const first = (await world.put('main', { ...hello, audience: 'roster', template: 'brief', execution_id }))
      .json
    await world.request(world.owner.key, 'PUT', `${path}/main/pin`, { pinned: true })
    await world.clock.advance(5)
    const { json } = await world.put('main', { blocks: [] }, world.owner.key)
    const { created_at, updated_at, ...rest } = json
    assert.deepEqual([created_at, updated_at > created_at], [first.created_at, true])
    assert.deepEqual(rest, {
      agent_name: 'scout',
      canvas_id: 'main',
      title: null,
      audience: 'operator',
      template: null,
      pinned: true,
      stale: false,
      updated_by_execution_id: null,
      blocks: [],
    })
  })

  test('pinned canvases come first, then the latest changes; after a week without changes a canvas is stale', async () => {
    await using world = await openCanvasWorld(open)
    for (const id of ['a', 'b', 'c']) {
      await world.put(id, hello)
      await world.clock.advance(1)
    }
    const pinned = await world.request(world.owner.key, 'PUT', `${path}/a/pin`, { pinned: true })
    assert.deepEqual([pinned.json.pinned, pinned.json.blocks], [true, undefined])
    const ids = async () => (await world.get()).map((each: { canvas_id: string }) => each.canvas_id)
    assert.deepEqual(await ids(), ['a', 'c', 'b'])
    await world.request(world.owner.key, 'PUT', `${path}/a/pin`, { pinned: false })
    assert.deepEqual(await ids(), ['c', 'b', 'a'])
    await world.clock.advance(7 * 86_400 - 2)
    await world.patch('b', { blocks: [{ id: 'b1', title: 'New' }] })
    const stale = (await world.get()).map((each: { canvas_id: string; stale: boolean }) => [
      each.canvas_id,
      each.stale,
    ])
    assert.deepEqual(stale, [
      ['b', false],
      ['c', false],
      ['a', true],
    ])
  })

  test('PATCH changes blocks by id and keeps the others; 422 for unknown ids and invalid blocks, without a change', async () => {
    await using world = await openCanvasWorld(open)
    const blocks = [
      markdown('one'),
      markdown('two', { id: 'own', title: 'Two', slot: 'body' }),
      markdown('three'),
    ]
    await world.put('main', { blocks, template: 'brief' })
    const { id: execution_id } = await world.run(world.agentId)
    const change = [
      { id: 'own', payload: { markdown: 'TWO' } },
      { id: 'b2', kind: 'json', payload: null, title: 'J' },
    ]
    const { json } = await world.patch('main', { blocks: change, execution_id })
    assert.equal(json.updated_by_execution_id, execution_id)
    assert.deepEqual(json.blocks, [
      { id: 'b1', kind: 'markdown', title: null, slot: null, payload: { markdown: 'one' } },
      { id: 'own', kind: 'markdown', title: 'Two', slot: 'body', payload: { markdown: 'TWO' } },
      { id: 'b2', kind: 'json', title: 'J', slot: null, payload: null },
    ])
    const wrong: [object, (string | number)[], RegExp][] = [
      [{ id: 'b9', title: 'x' }, ['blocks', 1, 'id'], /b9/],
      [{ id: 'b1', kind: 'kpi' }, ['blocks', 1, 'payload', 'tiles'], /./],
      [{ id: 'b1', payload: { markdown: 7 } }, ['blocks', 1, 'payload', 'markdown'], /must be text/],
      [{ id: 'b1', slot: 'side' }, ['blocks', 1, 'slot'], /header, key-points, body/],
    ]
    for (const [bad, loc, pattern] of wrong) {
      const reply = await world.patch('main', { blocks: [{ id: 'own', title: 'lost' }, bad] })
      assert.equal(reply.status, 422)
      assert.deepEqual(reply.json.detail[0].loc, ['body', ...loc])
      assert.match(reply.json.detail[0].msg, pattern)
    }
    assert.deepEqual((await world.get('/main')).blocks, json.blocks)
    assert.equal((await world.patch('other', { blocks: change })).json.error, 'canvas_not_found')
  })

  test('twenty concurrent changes are all stored; twenty concurrent new canvases stop at the limit', async () => {
    await using world = await openCanvasWorld(open)
    await world.put('main', { blocks: Array.from({ length: 20 }, (_, at) => markdown(`${at}`)) })
    const changes = Array.from({ length: 20 }, (_, at) =>
      world.patch('main', { blocks: [{ id: `b${at + 1}`, payload: { markdown: `new ${at}` } }] }),
    )
    for (const { status } of await Promise.all(changes)) assert.equal(status, 200)
    const texts = (await world.get('/main')).blocks.map(
      ({ payload }: { payload: { markdown: string } }) => payload.markdown,
    )
    assert.deepEqual(
      texts,
      Array.from({ length: 20 }, (_, at) => `new ${at}`),
    )

    const main = (await canvasStore(world.db).find(world.agentId, 'main')) ?? assert.fail()
    for (let at = 1; at < 90; at += 1) await canvasStore(world.db).put({ ...main, canvas_id: `c${at}` })
    await world.clock.advance(61)
    const created = await Promise.all(
      Array.from({ length: 20 }, (_, at) => world.put(`d${at}`, { blocks: [] })),
    )
    assert.equal(created.filter(({ status }) => status === 200).length, 10)
    for (const { status, json } of created) if (status !== 200) assert.equal(json.error, 'conflict')
    assert.equal(
      (await world.put('main', { blocks: [] })).status,
      200,
      'an existing canvas can still be written',
    )
  })

  test('429 after sixty writes per minute; 404 for a run of another agent', async () => {
    await using world = await openCanvasWorld(open)
    await world.request(world.owner.key, 'POST', '/api/agents', { name: 'other' })
    const other = await world.row('other')
    world.runs.agents.set(other.id, agentFact({ id: other.id, name: 'other' }))
    const { id: execution_id } = await world.run(other.id)
    for (const foreign of [execution_id, 'none']) {
      const { status, json } = await world.put('main', { ...hello, execution_id: foreign })
      assert.deepEqual([status, json.error], [404, 'execution_not_found'])
    }
    assert.deepEqual(await world.get(), [])
    const replies = await Promise.all(Array.from({ length: 60 }, () => world.put('main', hello)))
    assert.equal(replies.filter(({ status }) => status === 429).length, 2)
  })

  test('shared people read and write, owners delete and pin, other agents only read', async () => {
    await using world = await openCanvasWorld(open)
    const { owner, key, request } = world
    const uma = await world.person('user', 'uma@example.org')
    const stranger = await world.person('creator', 'eve@example.org')
    await world.shareAgent('uma@example.org')
    await request(owner.key, 'POST', '/api/agents', { name: 'other' })
    const otherKey = await world.agentKey((await world.row('other')).id)
    assert.equal((await world.put('main', hello, uma.key)).status, 200)
    assert.equal((await request(uma.key, 'GET', `${path}/main`)).status, 200)
    assert.equal((await world.put('main', hello, stranger.key)).json.error, 'agent_not_found')
    for (const [method, rest, body] of [
      ['DELETE', '/main', undefined],
      ['PUT', '/main/pin', { pinned: true }],
      ['POST', '/bulk-delete', { canvas_ids: ['main'] }],
      ['POST', '/main/share', {}],
      ['GET', '/shares', undefined],
    ] as const) {
      assert.equal((await request(uma.key, method, `${path}${rest}`, body)).json.error, 'owner_required')
    }
    assert.equal(
      (await request(key, 'PUT', `${path}/main/pin`, { pinned: true })).json.error,
      'person_required',
    )
    assert.equal((await request(otherKey, 'GET', `${path}/main`)).json.error, 'agent_not_permitted')
    const allowed = await request(owner.key, 'PUT', '/api/agents/other/permissions', {
      permitted_agents: ['scout'],
    })
    assert.equal(allowed.status, 200, JSON.stringify(allowed.json))
    assert.equal((await request(otherKey, 'GET', `${path}/main`)).status, 200)
    assert.equal((await world.put('main', hello, otherKey)).json.error, 'agent_identity_required')
    assert.equal(
      (await world.patch('main', { blocks: [{ id: 'b1' }] }, otherKey)).json.error,
      'agent_identity_required',
    )
    assert.deepEqual((await request(key, 'DELETE', `${path}/main`)).json, {
      canvas_id: 'main',
      deleted: true,
    })
    assert.equal((await request(key, 'DELETE', `${path}/main`)).json.error, 'canvas_not_found')
    assert.deepEqual(await world.lastEvent('canvas.deleted'), { canvas_id: 'main', title: 'State' })
  })

  test('bulk delete removes several; canvases follow a renamed agent and are deleted with their agent', async () => {
    await using world = await openCanvasWorld(open)
    for (const id of ['a', 'b', 'c']) await world.put(id, hello)
    await world.share('c')
    const deletion = await world.request(world.owner.key, 'POST', `${path}/bulk-delete`, {
      canvas_ids: ['a', 'none', 'b', 'a'],
    })
    assert.deepEqual(
      { ...deletion.json, deleted: deletion.json.deleted.sort() },
      { agent_name: 'scout', requested: 4, deleted: ['a', 'b'] },
    )
    await world.request(world.owner.key, 'PUT', '/api/agents/scout/rename', { new_name: 'finder' })
    const renamed = await world.request(world.owner.key, 'GET', '/api/agents/finder/canvas')
    assert.deepEqual([renamed.json[0].canvas_id, renamed.json[0].agent_name], ['c', 'finder'])
    assert.equal((await world.request(world.owner.key, 'DELETE', '/api/agents/finder')).status, 200)
    for (const table of ['agent_canvases', 'canvas_shares'] as const) {
      const rows = await world.db
        .withTables<Record<typeof table, { agent_id: string }>>()
        .selectFrom(table)
        .select('agent_id')
        .execute()
      assert.deepEqual(rows, [], table)
    }
  })

  test('people of the Workspace see only canvases for the roster', async () => {
    await using world = await openCanvasWorld(open)
    await world.put('inner', hello)
    await world.put('outer', { ...hello, audience: 'roster' })
    await world.shareAgent('sam@example.org')
    const token = await world.signIn('sam@example.org')
    const workspace = '/api/enterprise/client-portal/agents'
    const ask = (rest: string) => world.request(token, 'GET', `${workspace}/${rest}`)
    const { json } = await ask('scout/canvas')
    assert.deepEqual(
      json.map(({ canvas_id }: { canvas_id: string }) => canvas_id),
      ['outer'],
    )
    assert.deepEqual((await ask('scout/canvas/outer')).json.blocks, [storedBlock])
    assert.equal((await ask('scout/canvas/inner')).json.error, 'canvas_not_found')
    assert.equal((await ask('other/canvas')).json.error, 'agent_not_found')
  })
})
