import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openAgents } from '../../agents/test/world.ts'
import { silentLog } from '../../ports/log.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { person } from '../../test/run-platform.ts'
import { breakerRoutes } from './routes.ts'
import { createBreakers } from './service.ts'
import { createTransportBreaker } from './transport-breaker.ts'

const agentKey = {
  kind: 'key' as const,
  user: person({ role: 'admin' }).user,
  key: { id: 'k', name: 'agent', scope: 'agent' as const, agent_id: 'a1' },
}

forEachDialect((_, open) => {
  async function start(t: TestContext) {
    const db = await open()
    const world = await openAgents(db)
    t.after(() => world[Symbol.asyncDispose]())
    const owner = await world.person()
    await world.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
    const { id } = await world.row('scout')
    const platform = { on: false }
    const breakers = createBreakers({ db, clock: world.clock, isPlatformEnabled: () => platform.on })
    const { agentRecords, settings } = world.area
    const app = routesApp(
      breakerRoutes({ breakers, agentRecords, settings }),
      {
        owner: { caller: person(), relation: 'owner' },
        shared: { caller: person({ id: 'u2' }), relation: 'shared' },
        stranger: { caller: person({ id: 'u3' }), relation: null },
        admin: { caller: person({ id: 'u4', role: 'admin' }), relation: 'admin' },
        agent: { caller: agentKey, relation: 'self' },
      },
      id,
    )
    const ask = async (who: string, method: 'GET' | 'PUT' | 'POST', path = '', payload?: object) => {
      const url = `/api/agents/scout/circuit-breaker${path}`
      const reply = await app.inject({ method, url, headers: as(who), ...(payload ? { payload } : {}) })
      return { status: reply.statusCode, json: reply.json() }
    }
    return { db, world, id, platform, breakers, ask, app }
  }

  test('both breakers are shown while disabled', async (t) => {
    const { ask } = await start(t)
    const closed = { state: 'closed', failure_count: 0, retry_after_seconds: null }
    assert.deepEqual((await ask('shared', 'GET')).json, {
      agent_name: 'scout',
      enabled: false,
      config: { enabled: false, global_enabled: false },
      open: false,
      dispatch: closed,
      transport: closed,
    })
  })

  test('the owner toggles it with an event, and a warning while the platform setting is off', async (t) => {
    const { ask, platform, world } = await start(t)
    const on = await ask('owner', 'PUT', '', { enabled: true })
    assert.equal(on.status, 200, JSON.stringify(on.json))
    assert.deepEqual(on.json.config, { enabled: true, global_enabled: false })
    assert.match(on.json.warning, /dispatch_breaker_enabled/)
    assert.deepEqual(await world.lastEvent('agent.settings_changed'), { setting: 'circuit-breaker' })
    platform.on = true
    const { json } = await ask('shared', 'GET')
    assert.deepEqual([json.enabled, json.config.global_enabled, json.warning], [true, true, undefined])
    assert.equal((await ask('admin', 'PUT', '', { enabled: false })).json.enabled, false)
  })

  test('403 for callers who may not toggle or reset it, 404 for strangers, 422 for a non-boolean', async (t) => {
    const { ask, app } = await start(t)
    assert.equal((await ask('shared', 'PUT', '', { enabled: true })).json.error, 'owner_required')
    assert.equal((await ask('agent', 'PUT', '', { enabled: true })).json.error, 'person_required')
    assert.equal((await ask('stranger', 'GET')).json.error, 'agent_not_found')
    assert.equal((await ask('owner', 'PUT', '', { enabled: 'yes' })).status, 422)
    assert.equal((await ask('owner', 'PUT', '', {})).status, 422)
    assert.equal((await ask('owner', 'POST', '/reset')).json.error, 'admin_required')
    assert.equal((await ask('agent', 'POST', '/reset')).json.error, 'person_required')
    const other = await app.inject({
      method: 'POST',
      url: '/api/agents/nobody/circuit-breaker/reset',
      headers: as('admin'),
    })
    assert.deepEqual([other.statusCode, other.json().error], [404, 'agent_not_found'])
  })

  test('an admin resets both to closed', async (t) => {
    const { ask, db, world, id } = await start(t)
    const transport = createTransportBreaker({ db, clock: world.clock, log: silentLog })
    const link = transport.watch(world.link)
    world.link.unlink(id)
    for (let time = 0; time < 5; time += 1) await assert.rejects(link.call(id, 'info', {}))
    const before = (await ask('owner', 'GET')).json
    assert.deepEqual([before.open, before.transport.state], [true, 'open'])
    const { json } = await ask('admin', 'POST', '/reset')
    assert.deepEqual(json, {
      agent_name: 'scout',
      prior_dispatch_state: 'closed',
      prior_transport_state: 'open',
      new_state: 'closed',
      reset_at: world.clock.now().toISOString(),
    })
    assert.equal((await ask('owner', 'GET')).json.open, false)
  })
})
