import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { openQueueWorld, type QueueWorld } from './test/world.ts'

const entry = {
  id: 'r1',
  type: 'approval',
  status: 'pending',
  priority: 'high',
  title: 'Deploy?',
  question: 'To production.',
  options: ['yes', 'no'],
  context: { branch: 'main', files: 3 },
  created_at: '2026-01-01T00:00:00Z',
}
const sendFile = (world: QueueWorld, ...requests: unknown[]) =>
  world.queue.takeFile(world.agentId, { requests, fault: null })
const items = async (world: QueueWorld, query = '') => (await world.get(`/api/operator-queue${query}`)).items

forEachDialect((_name, open) => {
  test('a pending entry becomes one item; its answer is returned to the file once', async () => {
    await using world = await openQueueWorld(open)
    world.fakeLink.link(world.agentId, { 'queue.look': () => ({ ok: true }) })
    await Promise.all([sendFile(world, entry), sendFile(world, entry), sendFile(world, entry)])
    const [item, ...others] = await items(world)
    assert.deepEqual([others.length, item.source, item.request_id, item.priority], [0, 'file', 'r1', 'high'])
    await world.respond(item.id, { response: 'yes', response_text: 'go' })
    await world.queue.settled()
    assert.ok(world.fakeLink.calls.some(({ t }) => t === 'queue.look'))
    const { updates } = await sendFile(world, entry)
    assert.deepEqual(
      updates.map(({ id, status, response, response_text, responded_by }) => [
        id,
        status,
        response,
        response_text,
        responded_by,
      ]),
      [['r1', 'responded', 'yes', 'go', world.owner.email]],
    )
    assert.deepEqual((await sendFile(world, { ...entry, status: 'responded' })).updates, [])
    await sendFile(world, { ...entry, status: 'acknowledged' })
    assert.equal((await world.get(`/api/operator-queue/${item.id}`)).status, 'acknowledged')
  })

  test('the file adds no more items than an agent may ask in a minute, and the rest later', async () => {
    await using world = await openQueueWorld(open)
    const entries = Array.from({ length: 40 }, (_, index) => ({ ...entry, id: `r${index}` }))
    for (const total of [30, 30]) {
      await assert.rejects(sendFile(world, ...entries), /Too many new asks/)
      assert.equal((await items(world, '?limit=100')).length, total)
    }
    await world.clock.advance(60)
    await sendFile(world, ...entries)
    assert.equal((await items(world, '?limit=100')).length, 40)
  })

  test('entries of the file change and read nothing that the agent asked through the API', async () => {
    await using world = await openQueueWorld(open)
    const { id } = (await world.ask({ request_id: 'r1', title: 'Secret?' })).json
    for (const status of ['cancelled', 'acknowledged', 'pending']) {
      assert.deepEqual((await sendFile(world, { ...entry, status })).updates, [])
      assert.equal((await world.get(`/api/operator-queue/${id}`)).status, 'pending')
    }
    await world.respond(id, { response: 'the secret' })
    for (const status of ['pending', 'acknowledged']) {
      assert.deepEqual((await sendFile(world, { ...entry, status })).updates, [])
    }
    assert.equal((await world.get(`/api/operator-queue/${id}`)).status, 'responded')
    assert.equal((await items(world)).length, 1)
  })

  test('409 item_diverged after the entry changed, until the change is acknowledged', async () => {
    await using world = await openQueueWorld(open)
    await sendFile(world, entry)
    // The same content in another order.
    await sendFile(world, { ...entry, context: { files: 3, branch: 'main' } })
    const [item] = await items(world)
    assert.equal(item.diverged, false)
    await sendFile(world, { ...entry, title: 'Deploy twice?', options: ['yes', 'never'] })
    const refused = await world.respond(item.id, { response: 'yes' })
    assert.deepEqual(
      [refused.status, refused.json.error, refused.json.entry_now.title],
      [409, 'item_diverged', 'Deploy twice?'],
    )
    const answered = await world.respond(item.id, { response: 'never', acknowledge_divergence: true })
    assert.deepEqual(
      [answered.status, answered.json.title, answered.json.diverged],
      [200, 'Deploy twice?', false],
    )
  })

  test('an entry changed back has not diverged', async () => {
    await using world = await openQueueWorld(open)
    await sendFile(world, entry)
    await sendFile(world, { ...entry, title: 'Other' })
    await sendFile(world, entry)
    assert.equal((await items(world))[0].diverged, false)
  })

  test('an entry marked as cancelled cancels its item', async () => {
    await using world = await openQueueWorld(open)
    await sendFile(world, entry)
    await sendFile(world, { ...entry, status: 'cancelled' })
    assert.equal((await items(world))[0].status, 'cancelled')
  })

  test('an unreadable file raises one alert until it is readable; valid entries count', async () => {
    await using world = await openQueueWorld(open)
    for (let n = 0; n < 3; n += 1) {
      await world.queue.takeFile(world.agentId, { requests: null, fault: 'The file is not a JSON object.' })
    }
    const alerts = () => items(world, '?type=alert&status=pending')
    assert.deepEqual(
      (await alerts()).map(({ kind }: { kind: string }) => kind),
      ['workspace_unreadable'],
    )
    await sendFile(world, { ...entry, title: '' }, { ...entry, id: 'r2' })
    assert.match((await alerts())[0].question, /requests\[0\]\.title/)
    assert.equal((await items(world, '?type=approval')).length, 1)
    await sendFile(world, entry)
    assert.deepEqual(await alerts(), [])
  })
})
