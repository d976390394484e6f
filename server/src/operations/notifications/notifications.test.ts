import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mostNotificationsKept } from '@roost/contracts/operations/notifications'
import { forEachDialect } from '../../test/dialects.ts'
import { type MessagesWorld, openMessagesWorld } from '../test/messages-world.ts'
import { notificationStore } from './store.ts'

const all = '/api/notifications'
const words = { notification_type: 'info', title: 'Backup done' }
const send = (world: MessagesWorld, body: object, token = world.scout.key) =>
  world.request(token, 'POST', all, body)
const titlesOf = async (world: MessagesWorld, token: string, path = all) =>
  (await world.request(token, 'GET', path)).json.notifications
    .map(({ title }: { title: string }) => title)
    .sort()

forEachDialect((_name, open) => {
  test('201 for an agent’s own notification, with defaults; the event names it', async () => {
    await using world = await openMessagesWorld(open)
    const sent = await send(world, { ...words, metadata: { files: 3 }, category: 'ops' })
    assert.equal(sent.status, 201, JSON.stringify(sent.json))
    const { id, created_at, ...rest } = sent.json
    assert.equal(created_at, world.clock.now().toISOString())
    assert.deepEqual(rest, {
      agent_name: 'scout',
      ...words,
      message: null,
      priority: 'normal',
      category: 'ops',
      metadata: { files: 3 },
      status: 'pending',
      acknowledged_at: null,
      acknowledged_by: null,
    })
    assert.deepEqual(await world.lastEvent('agent.notification'), {
      notification_id: id,
      notification_type: 'info',
      title: 'Backup done',
      priority: 'normal',
      category: 'ops',
    })
  })

  test('a person names an accessible agent; an agent cannot name another one', async () => {
    await using world = await openMessagesWorld(open)
    const { ann, scout } = world
    const unnamed = await send(world, words, ann.session)
    assert.deepEqual([unnamed.status, unnamed.json.detail[0].loc], [422, ['body', 'agent_name']])
    assert.equal((await send(world, { ...words, agent_name: 'scout' }, ann.session)).status, 201)
    const hidden = await send(world, { ...words, agent_name: 'other' }, ann.session)
    assert.deepEqual([hidden.status, hidden.json.error], [404, 'agent_not_found'])
    await world.request(ann.session, 'POST', '/api/agents', { name: 'second' })
    await world.request(ann.session, 'POST', '/api/agents/scout/permissions/second')
    const foreign = await send(world, { ...words, agent_name: 'second' }, scout.key)
    assert.deepEqual([foreign.status, foreign.json.error], [403, 'agent_identity_required'])
  })

  test('422 names the field and its limit; 429 above sixty a minute', async () => {
    await using world = await openMessagesWorld(open)
    const wrong: [object, string][] = [
      [{ ...words, title: ' ' }, 'title'],
      [{ ...words, title: 'x'.repeat(201) }, 'title'],
      [{ ...words, message: 'x'.repeat(8001) }, 'message'],
      [{ ...words, notification_type: 'shout' }, 'notification_type'],
      [{ ...words, priority: 'asap' }, 'priority'],
      [{ ...words, metadata: { text: 'x'.repeat(8200) } }, 'metadata'],
    ]
    for (const [body, field] of wrong) {
      const { status, json } = await send(world, body)
      assert.deepEqual([status, json.detail[0].loc], [422, ['body', field]])
    }
    const replies = await Promise.all(Array.from({ length: 61 }, () => send(world, words)))
    assert.deepEqual(
      [201, 429].map((status) => replies.filter((reply) => reply.status === status).length),
      [60, 1],
    )
  })

  test('people with access to the agent see them, by page and status; others see and change nothing', async () => {
    await using world = await openMessagesWorld(open)
    const { ann, ben, scout, other } = world
    const shared = await world.newPerson('user', 'uma@example.org')
    await world.request(ann.session, 'POST', '/api/agents/scout/share', { email: shared.email })
    const admin = await world.newPerson('admin', 'root@example.org')
    const { id } = (await send(world, { ...words, title: 'a', priority: 'urgent' })).json
    await world.clock.advance(1)
    await send(world, { ...words, title: 'b' })
    await send(world, { ...words, title: 'theirs' }, other.key)
    for (const token of [ann.session, shared.session, scout.key])
      assert.deepEqual(await titlesOf(world, token), ['a', 'b'])
    assert.deepEqual(await titlesOf(world, ben.session), ['theirs'])
    assert.deepEqual(await titlesOf(world, admin.session), ['a', 'b', 'theirs'])
    assert.deepEqual(await titlesOf(world, ann.session, `${all}?agent_name=other`), [])
    assert.deepEqual(await titlesOf(world, ann.session, `${all}?priority=urgent`), ['a'])
    const page = await world.request(ann.session, 'GET', '/api/agents/scout/notifications?limit=1')
    assert.deepEqual(
      [page.json.count, page.json.notifications[0].title, page.headers['x-total-count']],
      [1, 'b', '2'],
    )
    assert.deepEqual(await world.get(`${all}/count`), { status: 'pending', count: 2 })
    assert.deepEqual(await world.get(`${all}/count?status=dismissed`), { status: 'dismissed', count: 0 })
    assert.equal((await world.request(ben.session, 'GET', '/api/agents/scout/notifications')).status, 404)
    for (const verb of ['acknowledge', 'dismiss']) {
      const refused = await world.request(ben.session, 'POST', `${all}/${id}/${verb}`)
      assert.deepEqual([refused.status, refused.json.error], [404, 'not_found'])
      const own = await world.request(scout.key, 'POST', `${all}/${id}/${verb}`)
      assert.deepEqual([own.status, own.json.error], [403, 'person_required'])
    }
    assert.equal((await world.get(`${all}?status=pending`)).count, 2)
  })

  test('one of twenty concurrent acknowledgements counts; dismissing keeps it', async () => {
    await using world = await openMessagesWorld(open)
    const admin = await world.newPerson('admin', 'root@example.org')
    const { id } = (await send(world, words)).json
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        world.request([world.ann, admin][n % 2]?.session ?? '', 'POST', `${all}/${id}/acknowledge`),
      ),
    )
    const names = new Set(replies.map(({ json }) => json.acknowledged_by))
    assert.ok(replies.every(({ status, json }) => status === 200 && json.status === 'acknowledged'))
    assert.equal(names.size, 1)
    const cleared = (await world.eventTypes()).filter((type) => type === 'notifications.cleared')
    assert.equal(cleared.length, 1)
    const dismissed = await world.request(world.ann.session, 'POST', `${all}/${id}/dismiss`)
    assert.deepEqual([dismissed.json.status, dismissed.json.acknowledged_by], ['dismissed', [...names][0]])
    const late = await world.request(world.ann.session, 'POST', `${all}/${id}/acknowledge`)
    assert.deepEqual([late.status, late.json.status], [200, 'dismissed'])
  })

  test('dismissing all covers one agent or all accessible ones, with one event per agent', async () => {
    await using world = await openMessagesWorld(open)
    const { ann, other } = world
    for (const title of ['a', 'b']) await send(world, { ...words, title })
    await send(world, words, other.key)
    const dismiss = (body?: object) => world.request(ann.session, 'POST', `${all}/dismiss-all`, body)
    assert.equal((await dismiss({ agent_name: 'other' })).json.error, 'agent_not_found')
    assert.deepEqual((await dismiss()).json, { dismissed: 2 })
    assert.deepEqual(await world.lastEvent('notifications.cleared'), { count: 2 })
    assert.deepEqual((await dismiss({ agent_name: 'scout' })).json, { dismissed: 0 })
    assert.deepEqual(await titlesOf(world, world.ben.session, `${all}?status=pending`), ['Backup done'])
  })

  test('an agent keeps its newest thousand', async () => {
    await using world = await openMessagesWorld(open)
    const { id: first } = (await send(world, words)).json
    await send(world, words, world.other.key)
    const row = (await notificationStore(world.db).byId(first)) ?? assert.fail()
    await world.db.atomically(async (tx) => {
      for (let n = 0; n < mostNotificationsKept; n += 1) {
        const created_at = new Date(world.clock.now().getTime() + n + 1).toISOString()
        await notificationStore(tx).insert({ ...row, id: `n${n}`, created_at })
      }
    })
    await world.loop('notifications.bound')
    assert.equal(await notificationStore(world.db).byId(first), null)
    assert.equal((await world.get(`${all}/count`)).count, mostNotificationsKept)
    assert.deepEqual((await titlesOf(world, world.ben.session)).length, 1)
  })

  test('they follow a rename of their agent and are deleted with it', async () => {
    await using world = await openMessagesWorld(open)
    const { id } = (await send(world, words)).json
    await world.request(world.ann.session, 'PUT', '/api/agents/scout/rename', { new_name: 'ranger' })
    assert.equal((await world.get(all)).notifications[0].agent_name, 'ranger')
    assert.equal((await world.request(world.ann.session, 'DELETE', '/api/agents/ranger')).status, 200)
    assert.equal(await notificationStore(world.db).byId(id), null)
  })
})
