import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { openMessagesWorld } from '../test/messages-world.ts'

const path = '/api/agents/scout/evaluations'

forEachDialect((_name, open) => {
  test('201 for the owner in person; 403 for keys of all scopes and for people it is shared with', async () => {
    await using world = await openMessagesWorld(open)
    const { ann, ben, scout } = world
    const { id: execution_id } = await world.run(scout.id)
    const judge = (token: string, body: object = { score: 80 }) => world.request(token, 'POST', path, body)
    const body = { score: 0, verdict: 'poor', notes: 'Looked at the wrong year.', execution_id }
    const made = await judge(ann.session, body)
    assert.equal(made.status, 201, JSON.stringify(made.json))
    const { id, created_at, ...rest } = made.json
    assert.ok(id.length > 20 && created_at === world.clock.now().toISOString())
    assert.deepEqual(rest, { ...body, agent_name: 'scout', created_by: 'ann@example.org' })

    const key = (await world.person('admin')).key
    for (const token of [key, scout.key]) {
      const refused = await judge(token)
      assert.deepEqual([refused.status, refused.json.error], [403, 'human_only'])
    }
    const shared = await world.newPerson('user', 'uma@example.org')
    await world.request(ann.session, 'POST', '/api/agents/scout/share', { email: shared.email })
    assert.equal((await judge(shared.session)).json.error, 'owner_required')
    assert.equal((await judge(ben.session)).json.error, 'agent_not_found')
    const admin = await world.newPerson('admin', 'root@example.org')
    await world.clock.advance(1)
    assert.equal((await judge(admin.session, { score: 100 })).json.created_by, 'root@example.org')

    for (const token of [ann.session, shared.session, scout.key]) {
      const list = await world.request(token, 'GET', path)
      assert.deepEqual(
        [list.json.map(({ score }: { score: number }) => score), list.headers['x-total-count']],
        [[100, 0], '2'],
      )
    }
    assert.deepEqual(await world.get(`${path}?execution_id=${execution_id}`), [made.json])
    assert.equal((await world.request(ben.session, 'GET', path)).status, 404)
  })

  test('422 names the field; the run must belong to the agent; evaluations are deleted with it', async () => {
    await using world = await openMessagesWorld(open)
    const judge = (body: object) => world.request(world.ann.session, 'POST', path, body)
    const wrong: [object, string][] = [
      [{}, 'score'],
      [{ score: 101 }, 'score'],
      [{ score: -1 }, 'score'],
      [{ score: '80' }, 'score'],
      [{ score: 80, verdict: 'x'.repeat(101) }, 'verdict'],
      [{ score: 80, notes: 'x'.repeat(4001) }, 'notes'],
    ]
    for (const [body, field] of wrong) {
      const { status, json } = await judge(body)
      assert.deepEqual([status, json.detail[0].loc], [422, ['body', field]])
    }
    const { id } = await world.run(world.other.id)
    assert.equal((await judge({ score: 1, execution_id: id })).json.error, 'execution_not_found')
    assert.equal((await judge({ score: 1 })).status, 201)
    assert.equal((await world.request(world.ann.session, 'DELETE', '/api/agents/scout')).status, 200)
    await world.request(world.ann.session, 'POST', '/api/agents', { name: 'scout' })
    assert.deepEqual(await world.get(path), [])
  })
})
