import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxRunViews, type RunView } from '@roost/contracts/runs/run-views'
import { createAgentAccess } from '../../agents/access/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { openIdentity } from '../../identity/test/fixture.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { person } from '../../test/run-platform.ts'
import { agents } from '../fleet-executions/test/fleet-world.ts'
import { createRunViews, runViewRoutes } from './index.ts'

forEachDialect((_name, open) => {
  async function start() {
    const db = await open()
    const identity = await openIdentity(db)
    const callers: Record<string, SignedIn> = {}
    for (const [name, role] of [
      ['ann', 'creator'],
      ['ben', 'operator'],
      ['eve', 'user'],
      ['root', 'admin'],
    ] as const) {
      const { id } = await identity.addUser()
      callers[name] = person({ id, username: name, email: `${name}@example.org`, role })
    }
    const { user } = callers.ann ?? assert.fail()
    callers.ops = { kind: 'key', user, key: { id: 'k', name: 'k', scope: 'ops', agent_id: null } }
    callers.agent = { kind: 'key', user, key: { id: 'a', name: 'a', scope: 'agent', agent_id: 'a1' } }
    callers.key = { kind: 'key', user, key: { id: 'u', name: 'u', scope: 'user', agent_id: null } }
    const clock = createTestClock('2030-01-01T00:00:00.000Z')
    const agentAccess = createAgentAccess({
      // `scout` is shared with ben; `rover` belongs to somebody else.
      agentRecords: { all: async () => agents, byName: async () => null },
      permittedTargets: async () => new Set(),
      isConnectorOn: async () => true,
    })
    const app = routesApp(
      runViewRoutes(createRunViews({ db, clock, agentAccess })),
      Object.fromEntries(Object.entries(callers).map(([name, caller]) => [name, { caller, relation: null }])),
    )
    const call = async (
      who: string,
      method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
      path = '',
      body?: object,
    ) => {
      const reply = await app.inject({
        method,
        url: `/api/run-views${path}`,
        headers: as(who),
        ...(body ? { payload: body } : {}),
      })
      return { status: reply.statusCode, json: reply.json() }
    }
    return {
      call,
      db,
      idOf: (name: string) => callers[name]?.user.id ?? assert.fail(),
      save: async (who: string, name: string, query = 'status:failed', shared = false): Promise<RunView> => {
        const { status, json } = await call(who, 'POST', '', { name, query, shared })
        assert.equal(status, 200, JSON.stringify(json))
        return json
      },
      names: async (who: string) => (await call(who, 'GET')).json.map(({ name }: RunView) => name),
      [Symbol.asyncDispose]: async () => {
        await app.close()
        await identity[Symbol.asyncDispose]()
        await db[Symbol.asyncDispose]()
      },
    }
  }

  test('a view is saved, renamed, changed and deleted; its names are unique per person', async () => {
    await using it = await start()
    const view = await it.save('ann', '  Night failures ', ' status:failed since:12h ')
    assert.deepEqual(
      [view.name, view.query, view.shared, view.is_own, view.may_change],
      ['Night failures', 'status:failed since:12h', false, true, true],
    )
    const renamed = await it.call('key', 'PATCH', `/${view.id}`, { name: 'Nights' })
    assert.deepEqual([renamed.status, renamed.json.name, renamed.json.query], [200, 'Nights', view.query])
    const other = await it.save('ann', 'Other')
    for (const reply of [
      await it.call('ann', 'POST', '', { name: 'Nights', query: '' }),
      await it.call('ann', 'PATCH', `/${other.id}`, { name: 'Nights' }),
    ]) {
      assert.deepEqual([reply.status, reply.json.error], [409, 'already_exists'])
      assert.match(reply.json.detail, /“Nights”/)
    }
    await it.save('ben', 'Nights')
    assert.equal((await it.call('ann', 'DELETE', `/${view.id}`)).status, 200)
    assert.deepEqual(await it.names('ann'), ['Other'])
    assert.equal((await it.call('ann', 'DELETE', `/${view.id}`)).status, 404)
  })

  test('of concurrent changes to one name one is accepted', async () => {
    await using it = await start()
    const views = await Promise.all(['a', 'b', 'c', 'd'].map((name) => it.save('ann', name)))
    const replies = await Promise.all(
      views.map(({ id }) => it.call('ann', 'PATCH', `/${id}`, { name: 'Nights' })),
    )
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 409, 409, 409])
    assert.equal((await it.names('ann')).length, 4)
  })

  test('422 for a filter with a mistake, with its word and position', async () => {
    await using it = await start()
    const { status, json } = await it.call('ann', 'POST', '', { name: 'x', query: 'agent:a status:done' })
    assert.equal(status, 422)
    assert.deepEqual(json.detail[0].loc, ['body', 'query'])
    assert.match(json.detail[0].msg, /Character 9: “done” is not a status/)
    for (const name of ['', ' ', 'x'.repeat(81)])
      assert.equal((await it.call('ann', 'POST', '', { name, query: '' })).status, 422, name)
  })

  test('a shared view is listed for the team, and with an agent only for people who can access it', async () => {
    await using it = await start()
    await it.save('ann', 'own')
    await it.save('ann', 'shared', 'status:failed', true)
    await it.save('ann', 'of scout', 'agent:scout', true)
    const hidden = await it.save('ann', 'of rover', 'agent:rover cost:>1', true)
    assert.deepEqual(await it.names('ann'), ['of rover', 'of scout', 'own', 'shared'])
    assert.deepEqual(await it.names('ben'), ['of scout', 'shared'])
    assert.deepEqual(await it.names('root'), ['of rover', 'of scout', 'shared'])
    assert.deepEqual(await it.names('eve'), [])
    for (const who of ['ben', 'eve']) {
      for (const [method, body] of [
        ['PATCH', { name: 'taken' }],
        ['DELETE', undefined],
      ] as const) {
        const reply = await it.call(who, method, `/${hidden.id}`, body)
        assert.deepEqual([reply.status, reply.json.error], [404, 'not_found'], `${who} ${method}`)
      }
    }
  })

  test('403 role_required for the role user that shares, and for a shared view of another person', async () => {
    await using it = await start()
    const refused = await it.call('eve', 'POST', '', { name: 'x', query: '', shared: true })
    assert.deepEqual([refused.status, refused.json.error], [403, 'role_required'])
    const own = await it.save('eve', 'x')
    assert.equal((await it.call('eve', 'PATCH', `/${own.id}`, { shared: true })).status, 403)
    const shared = await it.save('ann', 'shared', '', true)
    for (const [method, body] of [
      ['PATCH', { name: 'taken' }],
      ['DELETE', undefined],
    ] as const) {
      const reply = await it.call('ben', method, `/${shared.id}`, body)
      assert.deepEqual([reply.status, reply.json.error], [403, 'role_required'])
    }
    const unshared = await it.call('root', 'PATCH', `/${shared.id}`, { shared: false })
    assert.deepEqual([unshared.status, unshared.json.is_own], [200, false])
    assert.equal((await it.call('root', 'DELETE', `/${shared.id}`)).status, 404, 'no longer shared')
  })

  test('403 for keys of agents and operations', async () => {
    await using it = await start()
    for (const who of ['ops', 'agent']) assert.equal((await it.call(who, 'GET')).status, 403, who)
  })

  test('409 conflict at the limit; an account takes its views along', async () => {
    await using it = await start()
    for (let index = 0; index < maxRunViews; index += 1) await it.save('ann', `view ${index}`)
    const { status, json } = await it.call('ann', 'POST', '', { name: 'one more', query: '' })
    assert.deepEqual([status, json.error], [409, 'conflict'])
    const tables = it.db.withTables<{ users: { id: string }; run_views: { user_id: string } }>()
    await tables.deleteFrom('users').where('id', '=', it.idOf('ann')).execute()
    assert.deepEqual(await tables.selectFrom('run_views').selectAll().execute(), [])
  })
})
