import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AskBody } from '@roost/contracts/operations/operator-queue'
import { forEachDialect } from '../../test/dialects.ts'
import { openQueueWorld, runOf } from './test/world.ts'

const all = '/api/operator-queue'
const approval = { request_id: 'deploy-1', title: 'Deploy?', type: 'approval', options: ['yes', 'no'] }

forEachDialect((_name, open) => {
  test('201 for a new ask, 200 with the same item for a repeated request id; the event names it', async () => {
    await using world = await openQueueWorld(open)
    const first = await world.ask({ ...approval, context: { branch: 'main' }, proposal: 'ship it' })
    assert.equal(first.status, 201, JSON.stringify(first.json))
    assert.deepEqual(
      [first.json.type, first.json.status, first.json.priority, first.json.source, first.json.aging],
      ['approval', 'pending', 'medium', 'api', false],
    )
    assert.deepEqual([first.json.context, first.json.proposal], [{ branch: 'main' }, 'ship it'])
    const again = await world.ask({ ...approval, title: 'Another title' })
    assert.deepEqual([again.status, again.json.id, again.json.title], [200, first.json.id, 'Deploy?'])
    assert.equal((await world.lastEvent('operator_queue.new')).item_id, first.json.id)
    const { items, total, has_more } = await world.get(all)
    assert.deepEqual([items.length, total, has_more], [1, 1, false])
  })

  test('422 for an approval without options, an invalid request id, and an expiry that is too near', async () => {
    await using world = await openQueueWorld(open)
    assert.equal((await world.ask({ request_id: 'a', title: 'x', type: 'approval' })).status, 422)
    assert.equal((await world.ask({ request_id: 'a b', title: 'x' })).status, 422)
    const soon = new Date(world.clock.now().getTime() + 14 * 60_000).toISOString()
    assert.equal((await world.ask({ request_id: 'a', title: 'x', expires_at: soon })).status, 422)
    const large = { request_id: 'a', title: 'x', context: { text: 'y'.repeat(8200) } }
    assert.equal((await world.ask(large)).status, 422)
  })

  test('one of twenty concurrent answers counts, 409 for the others; the agent acknowledges it by reading', async () => {
    await using world = await openQueueWorld(open)
    const { id } = (await world.ask(approval)).json
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        world.respond(id, { response: n % 2 === 0 ? 'yes' : 'no', response_text: `no. ${n}` }),
      ),
    )
    const won = replies.filter(({ status }) => status === 200)
    assert.equal(won.length, 1)
    assert.ok(replies.every(({ status, json }) => status === 200 || json.error === 'item_not_pending'))
    assert.equal(won[0]?.json.responded_by_email, world.owner.email)
    const read = await world.request(world.agentKey, 'GET', '/api/agents/scout/operator-queue/deploy-1')
    assert.deepEqual([read.json.status, read.json.response], ['acknowledged', won[0]?.json.response])
    assert.equal(
      (await world.eventTypes()).filter((type) => type === 'operator_queue.acknowledged').length,
      1,
    )
  })

  test('a run for a sharer neither reads, acknowledges nor repeats the asks of others', async () => {
    await using world = await openQueueWorld(open)
    const agent = { id: world.agentId, name: 'scout' }
    const [uma, ben] = [runOf(world.agentId, 'user:uma'), runOf(world.agentId, 'user:ben')]
    const body = AskBody.parse({ request_id: 'a1', title: 'For Uma?' })
    const { id } = (await world.ask({ request_id: 'a1', title: 'For Ann?' })).json
    await world.respond(id, { response: 'secret' })
    await assert.rejects(world.queue.asks.read({ agent, caller: uma }, 'a1'), { code: 'not_found' })
    assert.equal((await world.get(`${all}/${id}`)).status, 'responded')

    const first = await world.queue.asks.ask({ agent, caller: uma }, body)
    assert.deepEqual([first.isNew, first.item.title, first.item.request_id], [true, 'For Uma?', 'a1'])
    const again = await world.queue.asks.ask({ agent, caller: uma }, body)
    assert.deepEqual([again.isNew, again.item.id], [false, first.item.id])
    assert.equal((await world.queue.asks.read({ agent, caller: uma }, 'a1')).title, 'For Uma?')
    await assert.rejects(world.queue.asks.read({ agent, caller: ben }, 'a1'), { code: 'not_found' })
    const own = await world.request(world.agentKey, 'GET', '/api/agents/scout/operator-queue/a1')
    assert.deepEqual([own.json.title, own.json.status], ['For Ann?', 'acknowledged'])
  })

  test('422 for an answer outside the options', async () => {
    await using world = await openQueueWorld(open)
    const { id } = (await world.ask(approval)).json
    const reply = await world.respond(id, { response: 'maybe' })
    assert.deepEqual(
      [reply.status, reply.json.error, reply.json.offered],
      [422, 'option_not_offered', ['yes', 'no']],
    )
  })

  test('owners and operators see their items, others items addressed to them, strangers nothing', async () => {
    await using world = await openQueueWorld(open)
    const [user, operator, stranger, admin] = [
      await world.person('user', 'uma@example.org'),
      await world.person('operator', 'opa@example.org'),
      await world.person('operator', 'stranger@example.org'),
      await world.person('admin', 'root@example.org'),
    ]
    for (const { email } of [user, operator]) await world.share(email ?? '')
    const plain = (await world.ask({ request_id: 'q1', title: 'For operators' })).json
    const addressed = (
      await world.ask({ request_id: 'q2', title: 'For Uma', to_email: user.email?.toUpperCase() })
    ).json
    await world.alert()
    const titles = async (key: string) =>
      (await world.request(key, 'GET', all)).json.items.map(({ title }: { title: string }) => title).sort()
    assert.deepEqual(await titles(world.owner.key), ['For Uma', 'For operators', 'refused'])
    assert.deepEqual(await titles(operator.key), ['For Uma', 'For operators', 'refused'])
    assert.deepEqual(await titles(user.key), ['For Uma'])
    assert.deepEqual(await titles(stranger.key), [])
    assert.deepEqual(await titles(world.agentKey), ['For Uma', 'For operators', 'refused'])
    await world.alert({ agentId: null, kind: 'retention_held', title: 'held' })
    assert.deepEqual(await titles(admin.key), ['For Uma', 'For operators', 'held', 'refused'])
    assert.equal((await titles(world.owner.key)).includes('held'), false)

    assert.equal((await world.request(user.key, 'GET', `${all}/${plain.id}`)).status, 404)
    assert.equal((await world.respond(plain.id, { response: 'x' }, user.key)).status, 404)
    assert.equal((await world.request(user.key, 'POST', `${all}/${addressed.id}/cancel`)).status, 403)
    assert.equal((await world.respond(addressed.id, { response: 'fine' }, user.key)).status, 200)
    assert.equal(
      (await world.respond(plain.id, { response: 'x' }, world.agentKey)).json.error,
      'person_required',
    )
    const { json: stats } = await world.request(operator.key, 'GET', `${all}/stats`)
    assert.deepEqual(
      [stats.pending, stats.by_status, stats.by_agent],
      [2, { pending: 2, responded: 1 }, { scout: 2 }],
    )
  })

  test('an alert is pending once per agent and kind, is updated, and is cleared with its cause', async () => {
    await using world = await openQueueWorld(open)
    await Promise.all(Array.from({ length: 20 }, (_, n) => world.alert({ title: `no. ${n}` })))
    await world.alert({ title: 'the newest', context: { n: 2 } })
    await world.alert({ kind: 'stuck_run', title: 'another kind' })
    const { items } = await world.get(`${all}?type=alert`)
    assert.equal(items.length, 2)
    const alert = items.find(({ kind }: { kind: string }) => kind === 'breaker_open')
    assert.deepEqual([alert.title, alert.context, alert.source], ['the newest', { n: 2 }, 'platform'])
    assert.equal((await world.eventTypes()).filter((type) => type === 'operator_queue.new').length, 2)

    const withdraw = world.queue.loops.find(({ name }) => name === 'operator-queue.outdated')
    await withdraw?.run(AbortSignal.any([]))
    assert.equal((await world.get(`${all}/${alert.id}`)).status, 'pending')
    world.breaker.state = 'closed'
    await withdraw?.run(AbortSignal.any([]))
    assert.equal((await world.get(`${all}/${alert.id}`)).status, 'cancelled')
    await world.alert({ title: 'again' })
    assert.equal((await world.get(`${all}?status=pending&type=alert`)).total, 2)
    const over = await world.get(`${all}?status=resolved`)
    assert.deepEqual([over.total, over.items[0].id], [1, alert.id])
  })

  test('an item without an answer in time is expired, even before the loop marks it', async () => {
    await using world = await openQueueWorld(open)
    const expires_at = new Date(world.clock.now().getTime() + 16 * 60_000).toISOString()
    const { id } = (await world.ask({ ...approval, expires_at })).json
    // A repeated ask near the expiry returns the same item.
    await world.clock.advance(5 * 60)
    const again = await world.ask({ ...approval, expires_at })
    assert.deepEqual([again.status, again.json.id], [200, id])
    await world.clock.advance(16 * 60)
    assert.equal((await world.respond(id, { response: 'yes' })).json.status, 'expired')
    await world.queue.resolve.expireDue(AbortSignal.any([]))
    const item = await world.get(`${all}/${id}`)
    assert.deepEqual([item.status, item.disposition], ['expired', 'expired'])
    assert.equal((await world.eventTypes()).at(-1), 'operator_queue.expired')
  })

  test('429 above thirty asks a minute and above a hundred pending', async () => {
    await using world = await openQueueWorld(open)
    const statuses: number[] = []
    for (let n = 0; n < 31; n += 1)
      statuses.push((await world.ask({ request_id: `q${n}`, title: 'x' })).status)
    assert.deepEqual([statuses.filter((status) => status === 201).length, statuses.at(-1)], [30, 429])
    for (let n = 31; n < 103; n += 1) {
      if (n % 30 === 1) await world.clock.advance(61)
      statuses.push((await world.ask({ request_id: `q${n}`, title: 'x' })).status)
    }
    const last = await world.ask({ request_id: 'one-more', title: 'x' })
    assert.deepEqual([last.json.error, last.json.queue_length], ['queue_full', 100])
  })

  test('cancels one or many and clears resolved items; old items are marked as aging', async () => {
    await using world = await openQueueWorld(open)
    const ids: string[] = []
    for (const request_id of ['a', 'b', 'c']) ids.push((await world.ask({ request_id, title: 'x' })).json.id)
    await world.clock.advance(24 * 3600 + 1)
    assert.equal((await world.get(`${all}/${ids[2]}`)).aging, true)
    const post = (path: string, body?: object) =>
      world.request(world.owner.key, 'POST', `${all}/${path}`, body)
    const cancelled = await post(`${ids[0]}/cancel`, { reason: 'no need' })
    assert.deepEqual([cancelled.json.status, cancelled.json.disposition_reason], ['cancelled', 'no need'])
    assert.equal((await post(`${ids[0]}/cancel`)).json.error, 'item_not_pending')
    const { json: bulk } = await post('bulk-cancel', { ids: [ids[0], ids[1], 'unknown'] })
    assert.deepEqual([bulk.cancelled, bulk.skipped], [1, 2])
    assert.equal((await world.get(`${all}/${ids[1]}`)).batch_id, bulk.batch_id)
    assert.deepEqual((await post('clear-resolved', { agent_name: 'scout' })).json, { cleared: 2 })
    assert.equal((await world.get(all)).total, 1)
    // The agent can still read its ask.
    const own = await world.request(world.agentKey, 'GET', '/api/agents/scout/operator-queue/a')
    assert.equal(own.json.status, 'cancelled')
  })

  test('a bulk answer skips items that do not accept it and leaves them unchanged', async () => {
    await using world = await openQueueWorld(open)
    const ask = async (fields: object) => (await world.ask({ title: 'x', ...fields })).json.id as string
    const [one, two] = [await ask({ ...approval }), await ask({ ...approval, request_id: 'deploy-2' })]
    const other = await ask({ request_id: 'colour', options: ['red'] })
    const answered = await ask({ request_id: 'answered' })
    await world.respond(answered, { response: 'done' })
    const body = {
      ids: [one, two, two, other, answered, 'unknown'],
      response: 'yes',
      response_text: 'all green',
    }
    const bulk = (sent: object, key = world.owner.key) =>
      world.request(key, 'POST', `${all}/bulk-respond`, sent)
    const { json } = await bulk(body)
    assert.deepEqual([json.answered, json.skipped], [2, 4])
    const after = await world.get(`${all}/${two}`)
    assert.deepEqual(
      [after.status, after.response, after.response_text, after.batch_id, after.responded_by_email],
      ['responded', 'yes', 'all green', json.batch_id, world.owner.email],
    )
    assert.equal((await world.get(`${all}/${other}`)).status, 'pending')
    assert.equal((await world.get(`${all}/${answered}`)).response, 'done')
    assert.equal(
      (await world.eventTypes()).filter((type) => type === 'operator_queue.responded').length,
      3,
      'one event for each item that was answered',
    )
    for (const wrong of [{ ids: [], response: 'yes' }, { ids: [one] }, { ids: [one], response: ' ' }])
      assert.equal((await bulk(wrong)).status, 422)
    assert.equal((await bulk(body, world.agentKey)).json.error, 'person_required')
    const stranger = await world.person('operator', 'stranger@example.org')
    assert.equal((await bulk({ ids: [other], response: 'red' }, stranger.key)).json.answered, 0)
  })

  test('of twenty concurrent bulk answers each item gets one', async () => {
    await using world = await openQueueWorld(open)
    const ids: string[] = []
    for (const request_id of ['a', 'b', 'c']) ids.push((await world.ask({ request_id, title: 'x' })).json.id)
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        world.request(world.owner.key, 'POST', `${all}/bulk-respond`, {
          ids: n % 2 === 0 ? ids : ids.toReversed(),
          response: `no. ${n}`,
        }),
      ),
    )
    assert.ok(replies.every(({ status }) => status === 200))
    assert.equal(
      replies.reduce((sum, { json }) => sum + json.answered, 0),
      3,
    )
  })

  test('ordered by urgency, pending items come first over all pages, the most urgent and then the oldest first', async () => {
    await using world = await openQueueWorld(open)
    const ask = async (request_id: string, priority: string) => {
      await world.clock.advance(1)
      return (await world.ask({ request_id, title: request_id, priority })).json.id
    }
    const over = await ask('over', 'critical')
    await ask('low', 'low')
    await ask('high-1', 'high')
    await ask('critical', 'critical')
    await ask('high-2', 'high')
    const later = await ask('over-later', 'low')
    for (const id of [over, later]) await world.respond(id, { response: 'ok' })
    const titles = async (query: string) =>
      (await world.get(`${all}?${query}`)).items.map(({ title }: { title: string }) => title)
    assert.deepEqual(await titles('order=urgent&limit=4'), ['critical', 'high-1', 'high-2', 'low'])
    assert.deepEqual(await titles('order=urgent&limit=4&offset=4'), ['over-later', 'over'])
    assert.equal((await titles(''))[0], 'over-later')
    assert.equal((await world.request(world.owner.key, 'GET', `${all}?order=oldest`)).status, 422)
  })

  test('pages contain the offset of the next one', async () => {
    await using world = await openQueueWorld(open)
    for (let n = 0; n < 3; n += 1) await world.ask({ request_id: `q${n}`, title: 'x', priority: 'low' })
    const first = await world.get(`${all}?limit=2&priority=low`)
    assert.deepEqual([first.items.length, first.total, first.has_more, first.next_offset], [2, 3, true, 2])
    const second = await world.get(`${all}?limit=2&offset=2&agent_name=scout`)
    assert.deepEqual([second.items.length, second.has_more, second.next_offset], [1, false, null])
    assert.equal((await world.get(`${all}?agent_name=nobody`)).total, 0)
    assert.equal((await world.request(world.owner.key, 'GET', `${all}?status=open`)).status, 422)
  })

  test('resolved items are removed after their window, pending ones stay; an unusual sweep is held and raises one alert', async () => {
    await using world = await openQueueWorld(open)
    const ids: string[] = []
    for (const request_id of ['a', 'b']) ids.push((await world.ask({ request_id, title: 'x' })).json.id)
    await world.respond(ids[0] ?? '', { response: 'ok' })
    const sweep = world.queue.loops.find(({ name }) => name === 'operator-queue.retention')
    await sweep?.run(AbortSignal.any([]))
    assert.equal((await world.get(all)).total, 2)
    await world.clock.advance(91 * 86_400)
    world.retention.isAdmitted = false
    for (let n = 0; n < 2; n += 1) await sweep?.run(AbortSignal.any([]))
    const admin = await world.person('admin', 'root@example.org')
    const alerts = await world.request(admin.key, 'GET', `${all}?type=alert`)
    assert.deepEqual(
      alerts.json.items.map(({ kind }: { kind: string }) => kind),
      ['retention_held'],
    )
    world.retention.isAdmitted = true
    await sweep?.run(AbortSignal.any([]))
    assert.deepEqual(
      (await world.get(all)).items.map(({ id }: { id: string }) => id),
      [ids[1]],
    )
  })

  test('the items of an agent are deleted with it', async () => {
    await using world = await openQueueWorld(open)
    const { id } = (await world.ask(approval)).json
    assert.equal((await world.request(world.owner.key, 'DELETE', '/api/agents/scout')).status, 200)
    assert.equal((await world.request(world.owner.key, 'GET', `${all}/${id}`)).status, 404)
  })
})
