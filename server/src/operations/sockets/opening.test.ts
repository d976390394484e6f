import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestDatabase } from '../../test/dialects.ts'
import { dial } from './test/client.ts'
import { startProcess } from './test/world.ts'

async function start() {
  return startProcess(await openTestDatabase())
}

describe('opening', () => {
  test('a ticket opens one socket, which gets its user and accessible agents', async () => {
    await using it = await start()
    const ann = await it.person('creator')
    const agent = await it.addAgent(ann)
    await it.addAgent(await it.person('creator'))
    const ticket = await it.tickets.mint(ann)
    await using client = await dial(`${it.url}/ws?ticket=${ticket}`)
    assert.deepEqual(await client.next('connected'), {
      type: 'connected',
      _eid: '0000000000000000',
      ts: '2030-01-01T00:00:00.000Z',
      user: ann.user.username,
      scope: 'session',
      accessible_agents: [agent.name],
    })
    const again = await dial(`${it.url}/ws?ticket=${ticket}`)
    assert.equal((await again.closed).code, 4001)
  })

  test('one of twenty concurrent uses of a ticket succeeds', async () => {
    await using it = await start()
    const ticket = await it.tickets.mint(await it.person())
    const clients = await Promise.all(Array.from({ length: 20 }, () => dial(`${it.url}/ws?ticket=${ticket}`)))
    const isIn = (client: (typeof clients)[number]) =>
      Promise.race([client.next('connected').then(() => 1), client.closed.then(() => 0)]).catch(() => 0)
    const admitted = await Promise.all(clients.map(isIn))
    assert.equal(
      admitted.reduce((sum, one) => sum + one, 0),
      1,
    )
  })

  test('4001 for a ticket that is expired, invalid, missing or of a suspended user', async () => {
    await using it = await start()
    const ann = await it.person()
    const late = await it.tickets.mint(ann)
    await it.clock.advance(30)
    const suspended = await it.tickets.mint(ann)
    await it.changeUser(ann.user.id, { suspended_at: '2030-01-01T00:00:00.000Z' })
    for (const query of [
      `?ticket=${late}`,
      `?ticket=${suspended}`,
      '?ticket=x',
      `?ticket=${'x'.repeat(43)}`,
      '',
    ]) {
      await using client = await dial(`${it.url}/ws${query}`)
      assert.equal((await client.closed).code, 4001, query)
    }
  })

  test('keys of scope user and agent open the event stream; 4003 for others, 4001 without a key', async () => {
    await using it = await start()
    const admin = await it.person('admin')
    const agent = await it.addAgent(admin)
    const brief = await it.addAgent(admin, { ephemeral: '{"max_executions":1,"ttl_seconds":60}' })
    const keyOf = async (scope: string) => (await it.keys.create(admin, { name: scope, scope })).key
    const agentKey = ({ id }: { id: string }) =>
      it.db.atomically((tx) => it.keys.mintAgentKey(tx, { agentId: id, ownerId: admin.user.id, name: 'k' }))
    await using user = await it.watchWithKey(await keyOf('user'))
    const greeting = await user.next('connected')
    assert.deepEqual([greeting.scope, greeting.accessible_agents], ['user', ['*']])
    await using own = await it.watchWithKey((await agentKey(agent)).key)
    const ownGreeting = await own.next('connected')
    assert.deepEqual([ownGreeting.scope, ownGreeting.accessible_agents], ['agent', [agent.name]])
    const { access_token } = await it.sessions.issue(await it.addUser('user'), { mode: 'email' })
    const codes: [string, number][] = [
      [await keyOf('ops'), 4003],
      [await keyOf('portal_delegate'), 4003],
      [(await agentKey(brief)).key, 4003],
      [`svc_mcp_${'x'.repeat(43)}`, 4001],
      [access_token, 4001],
      ['', 4001],
    ]
    for (const [key, code] of codes) {
      await using client = await it.watchWithKey(key)
      assert.equal((await client.closed).code, code, key.slice(0, 12))
    }
  })
})

describe('client messages', () => {
  test('ping and refresh get a reply in both forms, other messages none', async () => {
    await using it = await start()
    const ann = await it.person('creator')
    await using client = await it.watch(ann)
    client.send('{"type":"hello"}')
    client.send('hello')
    client.send('{')
    client.send('ping')
    assert.equal(await client.next((message) => message === 'pong'), 'pong')
    client.send('{"type":"ping"}')
    assert.deepEqual(await client.next('pong'), { type: 'pong' })
    const agent = await it.addAgent(ann)
    for (const word of ['refresh', '{"type":"refresh"}']) {
      client.send(word)
      assert.deepEqual(await client.next('refreshed'), {
        type: 'refreshed',
        accessible_agents: [agent.name],
      })
    }
    assert.equal(client.messages.length, 5)
  })

  test('a message above the size limit closes its socket and no other', async () => {
    await using it = await start()
    const ann = await it.person()
    await using client = await it.watch(ann)
    await using other = await it.watch(ann)
    client.send('x'.repeat(5000))
    assert.equal((await client.closed).code, 1009)
    other.send('ping')
    await other.next((message) => message === 'pong')
  })
})
