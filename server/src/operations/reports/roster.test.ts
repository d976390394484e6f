import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorkspaceWorld } from '../../conversations/workspace-chat/test/world.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { createReports, type Reports, reportRoutes, rosterReportRoutes } from './index.ts'

type Loose = Record<string, unknown>

/** The agent `scout`, shared with sam, who has no account. */
async function openWorld(open: OpenTestDb) {
  const made: { reports?: Reports } = {}
  const world = await openWorkspaceWorld(open, {
    rateReport: async (...said) => made.reports?.rateForRoster(...said),
    more: ({ area, workspace, ...parts }) => {
      const reports = createReports({
        ...parts,
        agentAccess: area.agentAccess,
        settings: { value: () => 90, retention: { admit: async () => ({ isAdmitted: true, isNew: false }) } },
        alerts: createTestAlerts().alerts,
        log: silentLog,
      })
      made.reports = reports
      return [...reportRoutes(reports), ...rosterReportRoutes(reports, workspace)]
    },
  })
  await world.share('sam@example.org')
  const sam = await world.signIn('sam@example.org')
  const key = await world.agentKey(world.agentId)
  return {
    ...world,
    sam,
    ask: (rest: string) => world.request(sam, 'GET', `/agents/${rest}`),
    async hand(body: object): Promise<string> {
      const given = { report_type: 'sales.weekly', title: 'Week', payload: { rows: [1] }, ...body }
      const { status, json } = await world.platformRequest(key, 'POST', '/api/agents/scout/reports', given)
      assert.equal(status, 201, JSON.stringify(json))
      return json.id
    },
  }
}

forEachDialect((_name, open) => {
  test('people in the Workspace see reports for the roster and no others', async () => {
    await using world = await openWorld(open)
    const inner = await world.hand({})
    const first = await world.hand({ audience: 'roster', title: 'Week 1' })
    world.clock.advance(1000)
    const second = await world.hand({ audience: 'roster', title: 'Week 2', report_type: 'sales.daily' })
    const idsOf = async (rest: string) => {
      const { status, json } = await world.ask(rest)
      assert.equal(status, 200, JSON.stringify(json))
      return json.map(({ id }: Loose) => id)
    }
    assert.deepEqual(await idsOf('scout/reports'), [second, first])
    assert.deepEqual(await idsOf('scout/reports?limit=1&offset=1'), [first])
    assert.deepEqual(await idsOf('scout/reports?report_type=sales.daily'), [second])
    const { json } = await world.ask(`scout/reports/${first}`)
    assert.deepEqual([json.title, json.payload], ['Week 1', { rows: [1] }])
    assert.equal((await world.ask(`scout/reports/${inner}`)).json.error, 'not_found')
  })

  test('each person rates a report once; one of twenty concurrent ratings remains; the owner sees the counts', async () => {
    await using world = await openWorld(open)
    const inner = await world.hand({})
    const id = await world.hand({ audience: 'roster' })
    const rate = (target_id: string, rating: string, comment?: string) =>
      world.request(world.sam, 'POST', '/agents/scout/ratings', {
        ...{ target_kind: 'report', target_id, rating, comment },
      })
    assert.equal((await rate(inner, 'up')).json.error, 'not_found')
    assert.equal((await world.ask(`scout/reports/${id}`)).json.my_rating, null)
    const both = Array.from({ length: 20 }, (_, n) => rate(id, n % 2 === 0 ? 'up' : 'down'))
    for (const { status, json } of await Promise.all(both)) assert.equal(status, 200, JSON.stringify(json))
    const bad = await rate(id, 'down', 'The sums are wrong.')
    assert.deepEqual(bad.json, { target_id: id, rating: 'down' })
    assert.equal((await world.ask(`scout/reports/${id}`)).json.my_rating, 'down')
    const seen = async () =>
      (await world.platformRequest(world.owner.key, 'GET', `/api/agents/scout/reports/${id}`)).json.ratings
    assert.deepEqual(await seen(), { up: 0, down: 1 })
    await rate(id, 'none')
    assert.deepEqual(await seen(), { up: 0, down: 0 })
    assert.equal((await world.ask(`scout/reports/${id}`)).json.my_rating, null)
  })

  test('404 for the reports of an agent that is not on the roster', async () => {
    await using world = await openWorld(open)
    const id = await world.hand({ audience: 'roster' })
    for (const rest of ['other/reports', `other/reports/${id}`]) {
      const { status, json } = await world.ask(rest)
      assert.deepEqual([status, json.error], [404, 'agent_not_found'])
    }
  })
})
