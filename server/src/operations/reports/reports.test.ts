import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { type MessagesWorld, openMessagesWorld } from '../test/messages-world.ts'

const path = '/api/agents/scout/reports'
const sales = { report_type: 'sales.weekly', title: 'Week 3', payload: { rows: [1, 2] } }
const hand = (world: MessagesWorld, body: object = sales, token = world.scout.key) =>
  world.request(token, 'POST', path, body)
const idsOf = (reports: { id: string }[]) => reports.map(({ id }) => id)

forEachDialect((_name, open) => {
  test('201 with the report as sent; lists omit the payload; the event names it', async () => {
    await using world = await openMessagesWorld(open)
    const { id: execution_id } = await world.run(world.scout.id)
    const body = {
      ...sales,
      display_hint: 'table',
      period_start: '2030-01-14T00:00:00',
      period_end: '2030-01-20T22:00:00+02:00',
      audience: 'roster',
      execution_id,
    }
    const { status, json } = await hand(world, body)
    assert.equal(status, 201, JSON.stringify(json))
    const { id, created_at: _, ...rest } = json
    assert.deepEqual(rest, {
      ...body,
      agent_name: 'scout',
      period_start: '2030-01-14T00:00:00.000Z',
      period_end: '2030-01-20T20:00:00.000Z',
      payload_bytes: 14,
      ratings: { up: 0, down: 0 },
    })
    assert.deepEqual(await world.get(`/api/reports/${id}`), json)
    assert.deepEqual(await world.get(`${path}/${id}`), json)
    const { payload: __, ratings: ___, ...summary } = json
    assert.deepEqual(await world.get(path), [summary])
    assert.deepEqual(await world.lastEvent('agent.report'), {
      report_id: id,
      report_type: 'sales.weekly',
      title: 'Week 3',
    })
  })

  test('a payload is an object, an array or text, and is returned unchanged', async () => {
    await using world = await openMessagesWorld(open)
    for (const payload of [{}, [], [1, 'x', null], '# Title\n\n“Zürich”', { a: { b: [true, 1.5] } }]) {
      const { json } = await hand(world, { ...sales, payload })
      assert.deepEqual((await world.get(`/api/reports/${json.id}`)).payload, payload)
    }
    for (const payload of [null, 5, true, undefined]) {
      const { status, json } = await hand(world, { ...sales, payload })
      assert.deepEqual([status, json.detail[0].loc], [422, ['body', 'payload']])
    }
  })

  test('accepts 5 MiB of payload; 422 with the limit for one byte more; 413 for far more', async () => {
    await using world = await openMessagesWorld(open)
    const text = (bytes: number) => 'x'.repeat(bytes - 2)
    const five = 5 * 1024 * 1024
    const largest = await hand(world, { ...sales, payload: text(five) })
    assert.deepEqual([largest.status, largest.json.payload_bytes], [201, five])
    const more = await hand(world, { ...sales, payload: text(five + 1) })
    assert.deepEqual([more.status, more.json.detail[0].loc], [422, ['body', 'payload']])
    assert.match(more.json.detail[0].msg, /5 MiB/)
    const far = await hand(world, { ...sales, payload: text(4 * five) })
    assert.deepEqual([far.status, far.json.error], [413, 'body_too_large'])
  })

  test('422 names the field; 404 for a run of another agent; 429 above sixty a minute', async () => {
    await using world = await openMessagesWorld(open)
    const wrong: [object, string][] = [
      [{ ...sales, report_type: 'Sales' }, 'report_type'],
      [{ ...sales, report_type: 'sales..weekly' }, 'report_type'],
      [{ ...sales, report_type: 'x'.repeat(129) }, 'report_type'],
      [{ ...sales, title: 'x'.repeat(301) }, 'title'],
      [{ ...sales, audience: 'all' }, 'audience'],
      [{ ...sales, display_hint: 'pie' }, 'display_hint'],
      [{ ...sales, period_start: '2030-01-02T00:00:00Z', period_end: '2030-01-01T00:00:00Z' }, 'period_end'],
    ]
    for (const [body, field] of wrong) {
      const { status, json } = await hand(world, body)
      assert.deepEqual([status, json.detail[0].loc], [422, ['body', field]])
    }
    const { id: execution_id } = await world.run(world.other.id)
    for (const foreign of [execution_id, 'none']) {
      const { status, json } = await hand(world, { ...sales, execution_id: foreign })
      assert.deepEqual([status, json.error], [404, 'execution_not_found'])
    }
    assert.deepEqual(await world.get(path), [])
    const replies = await Promise.all(Array.from({ length: 61 }, () => hand(world)))
    assert.equal(replies.filter(({ status }) => status === 429).length, 3)
  })

  test('only the agent itself creates reports; people with access read them, others find nothing', async () => {
    await using world = await openMessagesWorld(open)
    const { ann, ben, other } = world
    for (const token of [ann.session, ben.session]) {
      const { status, json } = await hand(world, sales, token)
      assert.deepEqual([status, json.error], [403, 'agent_identity_required'])
    }
    assert.equal((await hand(world, sales, other.key)).status, 404)
    const { id } = (await hand(world)).json
    await world.clock.advance(1)
    const second = (await hand(world, { ...sales, report_type: 'errors' })).json.id
    const theirs = (await world.request(other.key, 'POST', '/api/agents/other/reports', sales)).json.id
    const shared = await world.newPerson('user', 'uma@example.org')
    await world.request(ann.session, 'POST', '/api/agents/scout/share', { email: shared.email })
    for (const token of [ann.session, shared.session, world.scout.key]) {
      const { json, headers } = await world.request(token, 'GET', '/api/reports')
      assert.deepEqual([idsOf(json), headers['x-total-count']], [[second, id], '2'])
    }
    assert.deepEqual(idsOf(await world.get('/api/reports?report_type=errors')), [second])
    assert.deepEqual(await world.get('/api/reports?agent_name=other'), [])
    assert.deepEqual(idsOf(await world.get(`${path}?limit=1&offset=1`)), [id])
    for (const hidden of [`/api/reports/${theirs}`, `${path}/${theirs}`])
      assert.equal((await world.get(hidden)).error, 'not_found')
    assert.deepEqual(await world.get('/api/reports/stats'), {
      total: 2,
      by_type: { 'sales.weekly': 1, errors: 1 },
      by_agent: { scout: 2 },
    })
    assert.equal((await world.request(ann.session, 'DELETE', '/api/agents/scout')).status, 200)
    const admin = await world.newPerson('admin', 'root@example.org')
    const { json } = await world.request(admin.session, 'GET', '/api/reports/stats')
    assert.deepEqual([json.total, json.by_agent], [1, { other: 1 }])
  })

  test('reports are removed after their window; an unusual sweep is held and raises an alert', async () => {
    await using world = await openMessagesWorld(open)
    await hand(world)
    await world.clock.advance(90 * 86_400)
    const { id } = (await hand(world)).json
    // Sessions have expired by then.
    const list = async () => (await world.request(world.scout.key, 'GET', path)).json
    await world.loop('reports.retention')
    assert.equal((await list()).length, 2)
    await world.clock.advance(1)
    world.retention.isAdmitted = false
    await world.loop('reports.retention')
    assert.deepEqual([(await list()).length, world.raised.length], [2, 1])
    world.retention.isAdmitted = true
    await world.loop('reports.retention')
    assert.deepEqual(idsOf(await list()), [id])
  })
})
