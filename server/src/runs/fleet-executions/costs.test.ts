import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import type { ExecutionRow } from '../executions/index.ts'
import { start as startOn } from './test/fleet-world.ts'

/** The current time is 08:00 on 5 January 2026, a Monday. */
const runs: Partial<ExecutionRow>[] = [
  run('before the period', '2025-12-31T23:59:59.999Z', 9_000_000, { model_used: 'opus' }),
  run('first day', '2026-01-03T00:00:00.000Z', 1_000_000, { model_used: 'opus', source_user_id: 'ann' }),
  run('last moment', '2026-01-03T23:59:59.999Z', 2_000_000, { model_used: 'haiku', source_user_id: 'ben' }),
  run('free', '2026-01-04T10:00:00.000Z', null, {}),
  run('by rover', '2026-01-05T06:00:00.000Z', 500_000, {
    triggered_by: 'agent',
    source_mcp_key_id: 'k-rover',
    source_mcp_scope: 'agent',
    cost_estimated: 1,
  }),
  run('of rover', '2026-01-05T07:00:00.000Z', 4_000_000, { ...named('a2', 'rover'), source_user_id: 'gone' }),
  run('of a ghost', '2026-01-04T07:00:00.000Z', 250_000, { ...named('a0', 'ghost'), agent_deleted: 1 }),
]

function named(agent_id: string, agent_name: string): Partial<ExecutionRow> {
  return { agent_id, agent_name }
}

function run(message: string, created_at: string, cost_micros: number | null, over: Partial<ExecutionRow>) {
  return { message, created_at, cost_micros, ...over }
}

type Group = { kind: string; key: string | null; label: string; cost: number; runs: number }
const period = 'from=2026-01-01&to=2026-01-05'

forEachDialect((_, open: OpenTestDb) => {
  const start = () => startOn(open, runs)
  const labels = (groups: Group[]) => Object.fromEntries(groups.map(({ label, cost }) => [label, cost]))

  test('each caller sees the costs of the runs that it can list', async () => {
    const { get } = await start()
    const expected: Record<string, Record<string, number>> = {
      owner: { scout: 3.5 },
      'key of the owner': { scout: 3.5 },
      shared: { scout: 3.5 },
      stranger: {},
      admin: { rover: 4, scout: 3.5, 'ghost (deleted)': 0.25 },
      system: { rover: 4, scout: 3.5, 'ghost (deleted)': 0.25 },
      ops: { rover: 4, scout: 3.5 },
      'agent itself': { scout: 3.5 },
      'agent with an edge': { rover: 4, scout: 0.5 },
    }
    for (const [who, agents] of Object.entries(expected)) {
      const { status, json } = await get(who, `costs?${period}`)
      assert.equal(status, 200, who)
      assert.deepEqual(labels(json.groups), agents, who)
      const listed = await get(
        who,
        'executions?start_time=2026-01-01T00:00:00Z&end_time=2026-01-05T23:59:59.999Z',
      )
      const costs = listed.json.map(({ cost }: { cost: number | null }) => cost ?? 0)
      assert.equal(
        json.total_cost,
        costs.reduce((sum: number, cost: number) => sum + cost, 0),
        who,
      )
      for (const top of json.top_runs) {
        assert.ok(
          listed.json.some(({ id }: { id: string }) => id === top.id),
          who,
        )
      }
    }
    for (const who of ['connector', 'portal']) {
      assert.equal((await get(who, 'costs')).json.error, 'scope_not_allowed', who)
    }
    assert.equal((await get('owner', 'costs?agent=rover')).json.error, 'unknown_filter')
    assert.equal((await get('owner', 'costs?agent=ghost')).json.error, 'unknown_filter')
    assert.deepEqual(labels((await get('admin', `costs?${period}&agent=ghost`)).json.groups), {
      'ghost (deleted)': 0.25,
    })
  })

  test('days have no gaps, and each adds up its groups', async () => {
    const { get } = await start()
    const { json } = await get('admin', `costs?${period}`)
    assert.deepEqual([json.from, json.to, json.runs], ['2026-01-01', '2026-01-05', 5])
    assert.equal(json.cost_estimated, true)
    assert.deepEqual(json.days, [
      { date: '2026-01-01', cost: 0, by_group: [0, 0, 0] },
      { date: '2026-01-02', cost: 0, by_group: [0, 0, 0] },
      { date: '2026-01-03', cost: 3, by_group: [0, 3, 0] },
      { date: '2026-01-04', cost: 0.25, by_group: [0, 0, 0.25] },
      { date: '2026-01-05', cost: 4.5, by_group: [4, 0.5, 0] },
    ])
    assert.deepEqual(
      json.top_runs.map(({ cost }: { cost: number }) => cost),
      [4, 2, 1, 0.5, 0.25],
    )
  })

  test('groups are models, people, triggers or tags, and lead to the same runs in the list', async () => {
    const { get } = await start()
    const grouped = async (by: string) =>
      (await get('admin', `costs?${period}&group_by=${by}`)).json as { groups: Group[]; overlaps: boolean }
    assert.deepEqual(labels((await grouped('model')).groups), { 'No model': 4.75, haiku: 2, opus: 1 })
    assert.deepEqual(labels((await grouped('person')).groups), {
      'Deleted account': 4,
      'ben@example.org': 2,
      'ann@example.org': 1,
      'No person': 0.75,
    })
    assert.deepEqual(labels((await grouped('trigger')).groups), { manual: 7.25, agent: 0.5 })
    const byTag = await grouped('tag')
    assert.deepEqual(labels(byTag.groups), { 'No tag': 4.25, eu: 3.5, prod: 3.5 })
    assert.deepEqual([byTag.overlaps, (await grouped('model')).overlaps], [true, false])
    const filters = { model: 'model', person: 'person', trigger: 'triggered_by', tag: 'tag', agent: 'agent' }
    for (const [by, filter] of Object.entries(filters)) {
      for (const { key, cost, label } of (await grouped(by)).groups) {
        const times = 'start_time=2026-01-01T00:00:00Z&end_time=2026-01-05T23:59:59.999Z'
        const { json } = await get('admin', `executions?${times}&${filter}=${encodeURIComponent(key ?? '')}`)
        const total = json.reduce((sum: number, row: { cost: number | null }) => sum + (row.cost ?? 0), 0)
        assert.equal(total, cost, `${by} ${label}`)
      }
    }
  })

  test('after the first 20 groups, the others are one group', async () => {
    const rows = Array.from({ length: 25 }, (_, index) =>
      run(`${index}`, '2026-01-05T06:00:00.000Z', 1_000 * (index + 1), { model_used: `model-${index}` }),
    )
    const { get } = await startOn(open, rows)
    const { json } = await get('owner', 'costs?group_by=model&from=2026-01-05')
    assert.equal(json.groups.length, 21)
    assert.equal(json.groups[0].key, 'model-24')
    assert.deepEqual(
      [json.groups[20].kind, json.groups[20].key, json.groups[20].cost, json.groups[20].runs],
      ['rest', null, 0.015, 5],
    )
    assert.equal(json.days[0].by_group[20], 0.015)
    assert.equal(json.days[0].cost, json.total_cost)
  })

  test('limits have the figure of their own day, and the alert limit is for admins', async () => {
    const { get } = await start()
    const limits = async (who: string, query = '') => (await get(who, `costs?${query}`)).json.limits
    const cap = {
      kind: 'agent',
      agent_name: 'scout',
      daily_usd: 5,
      spent_today_usd: 4,
      cost_estimated: false,
    }
    const platform = {
      kind: 'platform',
      agent_name: null,
      daily_usd: 50,
      spent_today_usd: 4.5,
      cost_estimated: true,
    }
    assert.deepEqual(await limits('admin', 'from=2025-12-01&to=2025-12-31'), [platform, cap])
    assert.deepEqual(await limits('admin', 'agent=scout'), [cap])
    assert.deepEqual(await limits('owner'), [cap])
    assert.deepEqual(await limits('stranger'), [])
    assert.deepEqual(await limits('agent with an edge'), [], 'not for callers that only call the agent')
  })

  test('the forecast counts the current month, regardless of the period', async () => {
    const { get } = await start()
    const { forecast } = (await get('admin', 'costs?from=2025-06-01&to=2025-06-02')).json
    assert.deepEqual([forecast.month, forecast.spent, forecast.cost_estimated], ['2026-01', 7.75, true])
    assert.ok(forecast.expected > forecast.spent)
    assert.equal((await get('owner', 'costs?agent=scout')).json.forecast.spent, 3.5)
  })

  test('csv has a line for each day and group with a cost', async () => {
    const { get } = await start()
    const { text, headers } = await get('admin', `costs?${period}&format=csv`)
    assert.match(String(headers['content-type']), /^text\/csv/)
    assert.match(String(headers['content-disposition']), /roost-costs-2026-01-01-2026-01-05\.csv/)
    assert.deepEqual(text.split('\r\n'), [
      'date,agent,cost_usd',
      '2026-01-03,scout,3',
      '2026-01-04,ghost (deleted),0.25',
      '2026-01-05,rover,4',
      '2026-01-05,scout,0.5',
      '',
    ])
  })

  test('422 for an invalid period or grouping', async () => {
    const { get } = await start()
    const queries = [
      'from=2026-01-02&to=2026-01-01',
      'from=2024-01-01&to=2026-01-01',
      'from=yesterday',
      'to=2026-02-30',
      'group_by=week',
      'format=xml',
    ]
    for (const query of queries) {
      const { status, json } = await get('admin', `costs?${query}`)
      assert.deepEqual([status, json.error], [422, 'validation_error'], query)
    }
    assert.equal((await get('admin', 'costs?from=2024-11-28&to=2026-01-01')).status, 200, '400 days')
  })
})
