import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agentStore } from '../../agents/records/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { isNumber, numbers } from './test/client.ts'
import { eventAbout, startProcess } from './test/world.ts'

async function start() {
  return startProcess(await openTestDatabase())
}

describe('events', () => {
  test('are sent flat, under their wire names, to viewers with access to their agents', async () => {
    await using it = await start()
    const [ann, ben, root] = [await it.person('creator'), await it.person(), await it.person('admin')]
    const [wren, rook] = [await it.addAgent(ann, { name: 'wren' }), await it.addAgent(root, { name: 'rook' })]
    await using annSees = await it.watch(ann)
    await using benSees = await it.watch(ben)
    await using rootSees = await it.watch(root)
    await it.about([wren], { n: 1, type: 'forged', _eid: 'forged' })
    await it.about([rook], { n: 2 })
    await it.about(
      [wren, rook],
      { n: 3, source_agent: 'wren', target_agent: 'rook' },
      { type: 'agent.collaboration' },
    )
    await it.about([], { n: 4 }, { type: 'skills.library_synced' })
    await it.about([], { n: 5 }, { type: 'notifications.cleared', audience: 'admin' })
    await it.about([], { n: 6 }, { type: 'something.inside' })
    await it.about([], { n: 7 }, { type: 'notifications.cleared' })
    await Promise.all([annSees, benSees, rootSees].map((client) => client.next(isNumber(7))))
    assert.deepEqual(numbers(annSees.events()), [1, 4, 7])
    assert.deepEqual(numbers(benSees.events()), [4, 7])
    assert.deepEqual(numbers(rootSees.events()), [1, 2, 3, 4, 5, 7])
    assert.deepEqual(annSees.events()[0], {
      type: 'execution_created',
      _eid: '0000000000000001',
      ts: '2030-01-01T00:00:00.000Z',
      agent_name: 'wren',
      n: 1,
    })
    assert.equal(rootSees.events()[2].agent_name, undefined)
  })

  test('of a conversation go to its person only, with texts for those who may read them', async () => {
    await using it = await start()
    const [ann, ben, root] = [await it.person('creator'), await it.person(), await it.person('admin')]
    const agent = await it.addAgent(ann)
    await it.share(agent, ben.user.email)
    const key = await it.db.atomically((tx) =>
      it.keys.mintAgentKey(tx, { agentId: agent.id, ownerId: ann.user.id, name: 'k' }),
    )
    const clients = {
      ann: await it.watch(ann),
      ben: await it.watch(ben),
      root: await it.watch(root),
      agent: await it.watchWithKey(key.key),
    }
    await clients.agent.next('connected')
    const reserved = { fields: { message_preview: 'hello' }, user_id: ben.user.id, key_id: null }
    await it.about([agent], { n: 1 }, { reserved: { ...reserved, is_open: false } })
    await it.about([agent], { n: 2 }, { reserved: { ...reserved, is_open: true } })
    await it.about([agent], { n: 3 }, { type: 'chat.response_ready', visible_to_user_id: ben.user.id })
    await it.about([agent], { n: 4 })
    const received: Record<string, unknown> = {}
    for (const [name, client] of Object.entries(clients)) {
      await client.next(isNumber(4))
      received[name] = client
        .events()
        .map(({ n, message_preview }) => (message_preview ? `${n} ${message_preview}` : n))
      client.cut()
    }
    assert.deepEqual(received, {
      ann: [1, '2 hello', 4],
      ben: ['1 hello', '2 hello', 3, 4],
      root: ['1 hello', '2 hello', 4],
      agent: [1, '2 hello', 4],
    })
  })

  test('an agent key sees its own agent and those it may call, with reserved fields only of its own', async () => {
    await using it = await start()
    const root = await it.person('admin')
    const [own, called, other] = [await it.addAgent(root), await it.addAgent(root), await it.addAgent(root)]
    const { key, id } = await it.db.atomically((tx) =>
      it.keys.mintAgentKey(tx, { agentId: own.id, ownerId: root.user.id, name: 'k' }),
    )
    it.permitted.set(own.id, new Set([called.id]))
    await using client = await it.watchWithKey(key)
    assert.deepEqual(
      (await client.next('connected')).accessible_agents.toSorted(),
      [own.name, called.name].toSorted(),
    )
    const preview = (key_id: string | null) => ({
      reserved: { fields: { message_preview: 'hello' }, is_open: true, user_id: null, key_id },
    })
    await it.about([own], { n: 1 }, preview(null))
    await it.about([other], { n: 2 }, preview(null))
    await it.about([called], { n: 3 }, preview(null))
    await it.about([called], { n: 4 }, preview(id))
    await it.about([], { n: 5 }, { type: 'fleet.restart_progress', audience: 'admin' })
    await client.next(isNumber(4))
    it.permitted.delete(own.id)
    it.changes.announce({ agent_id: own.id })
    await it.about([called], { n: 6 })
    await it.about([own], { n: 7 })
    await client.next(isNumber(7))
    assert.deepEqual(
      client.events().map(({ n, message_preview }) => [n, message_preview]),
      [
        [1, 'hello'],
        [3, undefined],
        [4, 'hello'],
        [7, undefined],
      ],
    )
  })

  test('signals have the newest id and are not replayed', async () => {
    await using it = await start()
    const ann = await it.person('creator')
    const agent = await it.addAgent(ann)
    await using client = await it.watch(ann)
    await it.about([agent], { n: 1 })
    await client.next(isNumber(1))
    it.outbox.signal(eventAbout([agent], { n: 2 }, { type: 'agent.activity' }))
    const signal = await client.next(isNumber(2))
    assert.equal(signal._eid, '0000000000000001')
    await using back = await it.watch(ann, '0000000000000000')
    await it.about([agent], { n: 3 })
    await back.next(isNumber(3))
    assert.deepEqual(numbers(back.events()), [1, 3])
  })

  test('the last viewers of a deleted agent get its deletion, live or replayed, and nothing else', async () => {
    await using it = await start()
    const [ann, ben, eve, root] = [
      await it.person('creator'),
      await it.person(),
      await it.person(),
      await it.person('admin'),
    ]
    const agent = await it.addAgent(ann)
    await it.share(agent, ben.user.email)
    const people: SignedIn[] = [ann, ben, eve, root]
    const live = await Promise.all(people.map((each) => it.watch(each)))
    await it.about([agent], { n: 1 })
    await live[0]?.next(isNumber(1))
    await it.db.atomically(async (tx) => {
      await agentStore(tx).remove(agent.id)
      it.agentRecords.changed(tx, agent.id)
      const seen_by = { user_ids: [agent.owner_id], emails: [ben.user.email ?? ''], agent_ids: [] }
      await it.outbox.append(
        tx,
        eventAbout([agent], { n: 2 }, { type: 'agent.deleted', seen_by }),
        it.clock.now(),
      )
    })
    await it.about([], { n: 3 }, { type: 'notifications.cleared' })
    const later = await Promise.all(people.map((each) => it.watch(each, '0000000000000000')))
    await Promise.all([...live, ...later].map((client) => client.next(isNumber(3))))
    assert.deepEqual(
      live.map((client) => numbers(client.events())),
      [[1, 2, 3], [1, 2, 3], [3], [1, 2, 3]],
    )
    assert.deepEqual(
      later.map((client) => numbers(client.events())),
      [[2, 3], [2, 3], [3], [1, 2, 3]],
    )
    for (const client of [...live, ...later]) client.cut()
  })
})

describe('access changes apply to open sockets immediately', () => {
  test('access changes with sharing, unsharing and a new role', async () => {
    await using it = await start()
    const [ann, ben] = [await it.person('creator'), await it.person()]
    const agent = await it.addAgent(ann)
    await using owner = await it.watch(ann)
    await using client = await it.watch(ben)
    const tellAndDeliver = async (n: number) => {
      await it.about([agent], { n })
      await owner.next(isNumber(n))
    }
    await tellAndDeliver(1)
    await it.share(agent, ben.user.email)
    await tellAndDeliver(2)
    await it.unshare(agent, ben.user.email)
    await tellAndDeliver(3)
    await it.changeUser(ben.user.id, { role: 'admin' })
    await tellAndDeliver(4)
    await it.changeUser(ben.user.id, { role: 'user' })
    await tellAndDeliver(5)
    await it.about([], { n: 6 }, { type: 'notifications.cleared' })
    await client.next(isNumber(6))
    assert.deepEqual(numbers(client.events()), [2, 4, 6])
  })

  test('4001 after the account is suspended or removed, the session ended or the key revoked', async () => {
    await using it = await start()
    const [ann, ben, cat] = [await it.person(), await it.person(), await it.person()]
    const minted = await it.keys.create(cat, { name: 'k', scope: 'user' })
    const clients = await Promise.all([
      it.watch(ann),
      it.watch(ben),
      it.watch(cat),
      it.watchWithKey(minted.key),
    ])
    await clients[3].next('connected')
    await it.changeUser(ann.user.id, { suspended_at: '2030-01-01T00:00:00.000Z' })
    assert.equal((await clients[0].closed).code, 4001)
    await it.removeUser(ben.user.id)
    assert.equal((await clients[1].closed).code, 4001)
    await it.keys.revoke(cat, minted.id)
    assert.equal((await clients[3].closed).code, 4001)
    await it.sessions.logout(cat)
    assert.equal((await clients[2].closed).code, 4001)
  })

  test('a lost change message is found within the ping interval', async () => {
    await using it = await start()
    const ann = await it.person()
    await using client = await it.watch(ann)
    await it.db
      .withTables<{ users: { id: string; suspended_at: string } }>()
      .updateTable('users')
      .set({ suspended_at: '2030-01-01T00:00:00.000Z' })
      .where('id', '=', ann.user.id)
      .execute()
    await it.clock.advance(30)
    assert.equal((await client.closed).code, 4001)
  })
})
