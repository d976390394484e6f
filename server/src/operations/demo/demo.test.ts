import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createShared, openAgents } from '../../agents/test/world.ts'
import { silentLog } from '../../ports/log.ts'
import { executionStore } from '../../runs/executions/index.ts'
import { createRunRemoval } from '../../runs/retention/index.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { agentFact, startRunPlatform } from '../../test/run-platform.ts'
import { createSchedules } from '../../triggers/schedules/index.ts'
import { createDemo, type Demo, type DemoDeps, demoRoutes } from './index.ts'

const names = ['demo-developer', 'demo-digest', 'demo-support']

forEachDialect((_name, open) => {
  test('waits for the first admin, then creates each agent once, with history, canvas and first runs', async () => {
    await using world = await openDemo(open)
    await world.seed()
    assert.deepEqual((await world.demo().status()).state, 'waiting')
    await world.addAdmin()
    await world.seed()
    const first = await world.counts()
    assert.deepEqual(first.agents, names)
    assert.deepEqual(await world.demo().status(), {
      state: 'ready',
      agents: names,
      seeded_at: world.clock.now().toISOString(),
    })
    // 13 days, and the run of today.
    assert.equal(first.runs['demo-digest'], 14)
    assert.deepEqual([first.queued, first.canvases], [5, ['demo-digest']])
    // A second process starts from the same rows.
    await world.seed(world.demo())
    assert.deepEqual(await world.counts(), first)
  })

  test('the history has costs of 13 days, and fires of the schedule', async () => {
    await using world = await openDemo(open)
    await world.addAdmin()
    await world.seed()
    const { id } = await world.row('demo-digest')
    const rows = await executionStore(world.db).list({ agentId: id }, { limit: 50, offset: 0 })
    const past = rows.filter(({ status }) => status !== 'queued')
    assert.equal(new Set(past.map(({ created_at }) => created_at.slice(0, 10))).size, 13)
    assert.ok(past.every(({ cost_micros }) => (cost_micros ?? 0) > 0))
    const [scheduleId] = new Set(past.map(({ schedule_id }) => schedule_id))
    const fires = await world.db
      .withTables<{ fires: { schedule_id: string; outcome: string } }>()
      .selectFrom('fires')
      .selectAll()
      .execute()
    assert.equal(fires.length, 13)
    assert.ok(fires.every((fire) => fire.schedule_id === scheduleId && fire.outcome === 'fired'))
  })

  test('an agent of a person keeps its name, and a failure leaves nothing for the next attempt', async () => {
    await using world = await openDemo(open)
    const admin = await world.addAdmin()
    const created = await world.request(admin, 'POST', '/api/agents', { name: 'demo-digest' })
    assert.equal(created.status, 200)
    world.failOnce()
    await assert.rejects(world.seed(), /broken/)
    assert.deepEqual((await world.counts()).agents, ['demo-digest'])
    await world.seed()
    const status = await world.demo().status()
    assert.deepEqual([status.state, status.agents], ['ready', ['demo-developer', 'demo-support']])
    await world.demo().remove()
    assert.deepEqual((await world.counts()).agents, ['demo-digest'])
  })

  test('a removal deletes everything for good; only a person with the role admin may remove', async () => {
    await using world = await openDemo(open)
    const admin = await world.addAdmin()
    await world.seed()
    const user = await world.person('user')
    const keyOfAdmin = await world.person('admin')
    const call = (method: string, key: string) => world.request(key, method, '/api/demo')
    assert.equal((await call('GET', user.key)).status, 403)
    assert.equal((await call('DELETE', user.key)).status, 403)
    assert.equal((await call('DELETE', keyOfAdmin.key)).json.error, 'human_only')
    const removed = await call('DELETE', admin)
    assert.deepEqual([removed.status, removed.json.removed_agents.toSorted()], [200, names])
    assert.deepEqual(await world.counts(), { agents: [], runs: {}, queued: 0, canvases: [] })
    await world.seed(world.demo())
    assert.deepEqual((await world.counts()).agents, [])
    const { state, agents } = (await call('GET', admin)).json
    assert.deepEqual([state, agents], ['removed', []])
    assert.deepEqual((await call('DELETE', admin)).json.removed_agents, [])
  })
})

async function openDemo(open: OpenTestDb) {
  const db = await open()
  const shared = createShared()
  const { clock, ephemeral } = shared
  const runs = await startRunPlatform({ db, clock, ephemeral })
  const canvases: string[] = []
  const faults: Error[] = []
  const built: { make?: () => Demo; demo?: Demo } = {}
  const world = await openAgents(db, {
    shared,
    routes(agents) {
      const { agentRecords, agentManagement } = agents
      const { events, hooks } = runs
      agents.hooks.onDeleting((tx, { agent }) => runs.dispatch.agentDeleted(tx, agent.id))
      const schedules = createSchedules({
        db,
        clock,
        events,
        agentRecords,
        agentAccess: agents.agentAccess.resolveAgent,
        hooks: agents.hooks,
        retentionDays: () => 30,
        lastFires: async () => new Map(),
      })
      const deps: Omit<DemoDeps, 'users'> = {
        db,
        clock,
        log: silentLog,
        events,
        isDemo: true,
        agentRecords,
        agentManagement,
        schedules,
        prices: {
          lookup() {
            const fault = faults.pop()
            if (fault) throw fault
            return runs.prices.lookup()
          },
        },
        dispatch: {
          ...runs.dispatch,
          async checkAgent(id) {
            const agent = await agentRecords.byId(id)
            if (agent) runs.agents.set(id, agentFact({ id, name: agent.name }))
            return runs.dispatch.checkAgent(id)
          },
        },
        canvases: { put: async (agent) => void canvases.push(agent.name) },
        removeRuns: createRunRemoval({ db, clock, hooks, events }),
      }
      built.make = () =>
        createDemo({ ...deps, users: { findLogin: (login) => world.identity.users.findLogin(login) } })
      built.demo = built.make()
      return demoRoutes(built.demo)
    },
  })
  const demo = () => built.demo ?? assert.fail()

  return {
    ...world,
    demo,
    /** The next look-up of a price fails. */
    failOnce: () => void faults.push(new Error('broken')),
    /** Returns the session of the first admin. */
    async addAdmin() {
      const { id } = await world.identity.addUser('admin', 'admin')
      const account = (await world.identity.users.find(id)) ?? assert.fail('no such account')
      const { access_token } = await world.identity.sessions.issue(account, { mode: 'email' })
      return access_token
    },
    async seed(by = demo()) {
      for (const { run } of by.loops) await run(AbortSignal.any([]))
    },
    async counts() {
      const agents = (await world.area.agentRecords.all()).filter(({ is_system }) => !is_system)
      const ids = await db
        .withTables<{ executions: { agent_name: string; status: string } }>()
        .selectFrom('executions')
        .select(['agent_name', 'status'])
        .execute()
      const byAgent = Object.groupBy(ids, ({ agent_name }) => agent_name)
      return {
        agents: agents.map(({ name }) => name).toSorted(),
        runs: Object.fromEntries(Object.entries(byAgent).map(([name, rows = []]) => [name, rows.length])),
        queued: ids.filter(({ status }) => status === 'queued').length,
        canvases: agents.length > 0 ? canvases.slice() : [],
      }
    },
  }
}
