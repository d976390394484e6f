import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { insertRuns } from '../../test/run-rows.ts'
import { openHelper } from '../test/schedules-world.ts'
import { analyticsOf, sampleLimit } from './figures.ts'

const url = '/api/agents/helper/schedules'

/** The clock is at midnight of 1 January 2030. */
function runsOf(agentId: string, scheduleId: string): Partial<ExecutionRow>[] {
  const of = { agent_id: agentId, schedule_id: scheduleId, triggered_by: 'schedule' as const }
  const estimated = { cost_micros: 1e6, cost_estimated: 1 }
  return [
    { ...of, created_at: '2029-11-30T00:00:00.000Z', cost_micros: 9e6, duration_ms: 1, tool_count: 1 },
    { ...of, created_at: '2029-12-29T10:00:00.000Z', ...estimated, duration_ms: 100, tool_count: 2 },
    { ...of, created_at: '2029-12-30T10:00:00.000Z', status: 'failed', duration_ms: 9000, cost_micros: 5e5 },
    { ...of, created_at: '2029-12-30T10:01:00.000Z', triggered_by: 'retry', duration_ms: 300 },
    { ...of, created_at: '2029-12-31T10:00:00.000Z', status: 'skipped', started_at: null, cost_micros: 0 },
    { ...of, created_at: '2029-12-31T11:00:00.000Z', status: 'cancelled' },
    { ...of, created_at: '2029-12-31T12:00:00.000Z', triggered_by: 'validation', duration_ms: 7 },
    { ...of, created_at: '2029-12-31T13:00:00.000Z', status: 'pending_retry', started_at: null },
  ]
}

async function insertTool(db: Db, row: ExecutionRow, tool: string, ms: number): Promise<void> {
  const names = { execution_id: row.id, agent_id: row.agent_id, tool, tool_use_id: `${tool}-${ms}` }
  await db
    .withTables<{ execution_tools: Record<string, string | number> }>()
    .insertInto('execution_tools')
    .values({ ...names, n: 1, input_summary: '', started_at: row.created_at, duration_ms: ms })
    .execute()
}

forEachDialect((_dialect, open) => {
  test('analytics of a window: counts, rates, percentiles, costs, tools, and each UTC day', async () => {
    const db = await open()
    await using it = await openHelper(db)
    const made = await it.create()
    const rows = await insertRuns(db, runsOf(it.agentId, made.id))
    for (const row of rows.slice(1, 4)) {
      await insertTool(db, row, 'Bash', 50)
      await insertTool(db, row, 'Read', 10)
    }
    const get = async (query: string) =>
      (await it.request(it.shared.key, 'GET', `${url}/${made.id}/analytics${query}`)).json
    const week = await get('')
    assert.deepEqual(
      { ...week, timeline: week.timeline.length },
      {
        window_hours: 168,
        total_executions: 6,
        success_count: 2,
        failed_count: 1,
        cancelled_count: 1,
        skipped_count: 1,
        success_rate: 2 / 3,
        duration_ms: { p50: 100, p95: 300, p99: 300 },
        cost: { total: 1.5, avg: 0.75, estimated: true },
        tool_calls: {
          top: [
            { name: 'Bash', calls: 3, total_duration_ms: 150 },
            { name: 'Read', calls: 3, total_duration_ms: 30 },
          ],
          total_calls: 6,
        },
        timeline: 8,
        sampled: false,
        sample_size: 2,
      },
    )
    const none = { success: 0, failed: 0, cancelled: 0, skipped: 0, cost: 0, cost_estimated: false }
    assert.deepEqual(week.timeline.slice(-4), [
      { date: '2029-12-29', ...none, success: 1, cost: 1, cost_estimated: true },
      { date: '2029-12-30', ...none, success: 1, failed: 1, cost: 0.5 },
      { date: '2029-12-31', ...none, cancelled: 1, skipped: 1 },
      { date: '2030-01-01', ...none },
    ])
    const hours24 = await get('?window_hours=24')
    assert.deepEqual([hours24.total_executions, hours24.success_rate, hours24.timeline.length], [3, null, 2])
    assert.equal((await get('?window_hours=720')).total_executions, 6)
    assert.equal((await get('?window_hours=48')).error, 'validation_error')
    assert.equal((await get('?window_hours=1000')).error, 'validation_error')
  })

  test('the summary has one row per schedule, also without runs', async () => {
    const db = await open()
    await using it = await openHelper(db)
    const made = await it.create()
    const idle = await it.create({ name: 'idle', enabled: false })
    const deleted = await it.create({ name: 'deleted' })
    await it.request(it.owner.key, 'DELETE', `${url}/${deleted.id}`)
    await insertRuns(db, [...runsOf(it.agentId, made.id), ...runsOf(it.agentId, deleted.id)])
    const { json } = await it.request(it.shared.key, 'GET', `${url}/analytics-summary?window=14d`)
    assert.deepEqual([json.window, json.window_hours, json.schedule_count], ['14d', 336, 2])
    const never = { success_count: 0, failed_count: 0, cancelled_count: 0, success_rate: null }
    assert.deepEqual(json.schedules, [
      {
        schedule_id: idle.id,
        name: 'idle',
        cron_expression: '0 3 * * *',
        enabled: false,
        total_executions: 0,
        run_count: 0,
        ...never,
        avg_duration_ms: null,
        cost_total: 0,
        cost_estimated: false,
        tool_call_total: 0,
        tool_call_count: 0,
        last_run_at: null,
        last_run_status: null,
      },
      {
        schedule_id: made.id,
        name: 'nightly',
        cron_expression: '0 3 * * *',
        enabled: true,
        total_executions: 6,
        run_count: 5,
        success_count: 2,
        failed_count: 1,
        cancelled_count: 1,
        success_rate: 2 / 3,
        avg_duration_ms: 200,
        cost_total: 1.5,
        cost_estimated: true,
        tool_call_total: 2,
        tool_call_count: 2,
        last_run_at: '2029-12-31T11:00:00.000Z',
        last_run_status: 'cancelled',
      },
    ])
    assert.equal((await it.request(it.owner.key, 'GET', `${url}/analytics-summary?window=1d`)).status, 422)
  })

  test('the last run is the newest that was not skipped; the view also has the last fire', async () => {
    const db = await open()
    await using it = await openHelper(db)
    const made = await it.create()
    await insertRuns(db, runsOf(it.agentId, made.id))
    const fire = {
      due_at: '2029-12-31T10:00:00.000Z',
      outcome: 'skipped',
      reason: 'agent_not_running',
    } as const
    it.lastFires.set(made.id, fire)
    const { json } = await it.request(it.owner.key, 'GET', `${url}/${made.id}`)
    assert.deepEqual([json.last_run_at, json.last_run_status], ['2029-12-31T11:00:00.000Z', 'cancelled'])
    assert.deepEqual(json.last_fire, fire)
  })

  test('runs of a schedule, newest first, in pages, without those of other agents', async () => {
    const db = await open()
    await using it = await openHelper(db)
    const made = await it.create()
    await insertRuns(db, [...runsOf(it.agentId, made.id), { agent_id: it.agentId, schedule_id: null }])
    const pageOf = async (query: string) => {
      const page = await it.request(it.shared.key, 'GET', `${url}/${made.id}/executions?${query}`)
      return [
        page.headers['x-total-count'],
        page.json.map(({ triggered_by }: { triggered_by: string }) => triggered_by),
      ]
    }
    assert.deepEqual(await pageOf('limit=2&offset=1&include=validations'), ['8', ['validation', 'schedule']])
    assert.deepEqual(await pageOf('limit=2&offset=1'), ['7', ['schedule', 'schedule']])
    const unknown = await it.request(it.shared.key, 'GET', `${url}/${made.id}/executions?include=everything`)
    assert.equal(unknown.status, 422)
    assert.equal((await it.request(it.owner.key, 'GET', `${url}/unknown/executions`)).status, 404)
    // An agent with permission to call this one sees only the runs that it started.
    const caller = await it.request(it.owner.key, 'POST', '/api/agents', { name: 'caller' })
    assert.equal(caller.status, 200)
    const callerKey = await it.world.agentKey((await it.world.row('caller')).id)
    await it.request(it.owner.key, 'PUT', '/api/agents/caller/permissions', { permitted_agents: ['helper'] })
    const response = await it.request(callerKey, 'GET', `${url}/${made.id}/executions`)
    assert.deepEqual([response.status, response.json, response.headers['x-total-count']], [200, [], '0'])
    await it.request(it.owner.key, 'POST', '/api/agents', { name: 'other' })
    const elsewhere = `/api/agents/other/schedules/${made.id}`
    for (const path of ['', '/executions', '/analytics', '/next']) {
      const { json } = await it.request(it.owner.key, 'GET', `${elsewhere}${path}`)
      assert.equal(json.error, 'schedule_not_found', path)
    }
  })
})

test('percentiles use the newest 5,000 runs and report the sample', () => {
  const durations = Array.from({ length: sampleLimit }, (_, index) => index + 1)
  const none = { counts: [], tools: [] }
  const whole = analyticsOf(24, [], { ...none, durations })
  assert.deepEqual([whole.sampled, whole.sample_size, whole.duration_ms.p99], [false, 5000, 4950])
  const more = analyticsOf(24, [], { ...none, durations: [...durations, 9_999_999] })
  assert.deepEqual([more.sampled, more.sample_size, more.duration_ms.p99], [true, 5000, 4950])
})

test('at most five tools, the longest total time first', () => {
  const tools = Array.from({ length: 7 }, (_, i) => ({ tool: `t${i}`, calls: 7 - i, duration_ms: i * 10 }))
  const { tool_calls } = analyticsOf(24, [], { counts: [], durations: [], tools })
  assert.deepEqual(
    tool_calls.top.map(({ name }) => name),
    ['t6', 't5', 't4', 't3', 't2'],
  )
  assert.equal(tool_calls.total_calls, 28)
})
