import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import type { ExecutionRow } from '../executions/index.ts'
import { runs, start as startOn } from './test/fleet-world.ts'

forEachDialect((_, open: OpenTestDb) => {
  const start = (rows?: Partial<ExecutionRow>[]) => startOn(open, rows)

  test('statistics cover the window; running and queued runs count regardless of their age', async () => {
    const { get } = await start()
    assert.deepEqual((await get('admin', 'executions/stats')).json, {
      total: 6,
      success_count: 2,
      failed_count: 1,
      cancelled_count: 1,
      skipped_count: 1,
      running_count: 1,
      queued_count: 1,
      total_cost: 0.25,
      cost_estimated: true,
      success_rate: 2 / 3,
      hours: 24,
    })
    const own = (await get('owner', 'executions/stats?hours=0&agent=scout')).json
    assert.deepEqual(
      [own.total, own.failed_count, own.total_cost, own.running_count, own.queued_count],
      [5, 2, 1.25, 0, 0],
    )
    const none = (await get('stranger', 'executions/stats')).json
    assert.deepEqual([none.total, none.running_count, none.success_rate], [0, 0, null])
    assert.equal((await get('agent with an edge', 'executions/stats?hours=0&agent=scout')).json.total, 1)
  })

  test('statistics and pages are consistent while runs change state', async () => {
    const { db, get } = await start(Array.from({ length: 20 }, () => ({ status: 'queued' as const })))
    const executions = () => db.withTables<{ executions: ExecutionRow }>().updateTable('executions')
    const move = async () => {
      for (let time = 0; time < 10; time += 1) {
        await executions().set({ status: 'running' }).where('status', '=', 'queued').execute()
        const completed_at = '2026-01-05T08:00:00.000Z'
        await executions().set({ status: 'success', completed_at }).where('status', '=', 'running').execute()
        await executions().set({ status: 'queued', completed_at: null }).execute()
      }
    }
    const read = async () => {
      const { json } = await get('admin', 'executions/stats')
      assert.equal(json.success_count + json.running_count + json.queued_count, json.total)
      for (const search of ['', '&search=do']) {
        const { json: rows, headers } = await get('admin', `executions?status=running${search}`)
        assert.equal(rows.length, Number(headers['x-total-count']))
        for (const { status } of rows) assert.equal(status, 'running')
      }
    }
    await Promise.all([move(), ...Array.from({ length: 20 }, read)])
  })

  test('a timeline has every hour or day of its window and adds up to the statistics', async () => {
    const { get } = await start()
    const { buckets, ...settings } = (await get('owner', 'executions/timeline?hours=3')).json
    assert.deepEqual(settings, { group_by: 'hour', hours: 3 })
    const none = { total: 0, success: 0, failed: 0, cost: 0, cost_estimated: false }
    assert.deepEqual(buckets, [
      {
        bucket: '2026-01-05T05:00:00.000Z',
        total: 2,
        success: 1,
        failed: 1,
        cost: 0.25,
        cost_estimated: true,
      },
      { bucket: '2026-01-05T06:00:00.000Z', ...none, total: 2, success: 1 },
      { bucket: '2026-01-05T07:00:00.000Z', ...none },
      { bucket: '2026-01-05T08:00:00.000Z', ...none },
    ])
    const days = (await get('admin', 'executions/timeline?hours=0&group_by=day')).json.buckets
    assert.deepEqual(
      days.map(({ bucket, total }: { bucket: string; total: number }) => [bucket, total]),
      [
        ['2026-01-03', 2],
        ['2026-01-04', 1],
        ['2026-01-05', 5],
      ],
    )
    const empty = (await get('stranger', 'executions/timeline?hours=0&group_by=day')).json.buckets
    assert.deepEqual(empty, [{ bucket: '2026-01-05', ...none }])
  })

  test('a timeline between two times ends with them, and a start in the distant past adds no buckets', async () => {
    const { get } = await start()
    const buckets = async (times: string) =>
      (await get('admin', `executions/timeline?group_by=day&${times}`)).json.buckets.map(
        ({ bucket, total }: { bucket: string; total: number }) => [bucket, total],
      )
    assert.deepEqual(await buckets('start_time=2026-01-02T00:00:00Z&end_time=2026-01-04T23:59:59.999Z'), [
      ['2026-01-02', 0],
      ['2026-01-03', 2],
      ['2026-01-04', 1],
    ])
    assert.deepEqual(await buckets('start_time=0001-01-01T00:00:00Z&end_time=2026-01-03T23:00:00Z'), [
      ['2026-01-03', 2],
    ])
    const stats = async (query: string) => (await get('admin', `executions/stats?${query}`)).json
    const bound = 'start_time=2026-01-03T00:00:00Z'
    assert.deepEqual((await stats(bound)).total, 8)
    assert.deepEqual((await stats(`${bound}&tag=eu`)).total, 5)
    assert.deepEqual((await stats(`${bound}&tag=`)).total, 3)
    assert.deepEqual((await stats(`${bound}&person=ben`)).total, 1)
    assert.deepEqual((await stats(`${bound}&model=opus`)).total, 0)
    assert.deepEqual([(await stats(bound)).hours, (await stats('hours=3')).hours], [0, 3])
  })

  test('a timeline by trigger has every trigger, one by agent every accessible agent', async () => {
    const { get } = await start()
    const totals = async (who: string, group: string) => {
      const { json } = await get(who, `executions/timeline?hours=0&group_by=${group}`)
      return Object.fromEntries(
        json.buckets.map(({ bucket, total }: { bucket: string; total: number }) => [bucket, total]),
      )
    }
    const triggers = await totals('owner', 'trigger')
    assert.deepEqual([triggers.chat, triggers.schedule, triggers.manual, triggers.voip], [1, 1, 1, 0])
    assert.deepEqual(await totals('admin', 'agent'), { rover: 2, scout: 5, 'ghost (deleted)': 1 })
    assert.deepEqual(await totals('owner', 'agent'), { scout: 5 })
    assert.deepEqual(await totals('agent with an edge', 'agent'), { rover: 2, scout: 1 })
  })

  test('execution statistics have a row for each accessible agent, with weekly figures on request', async () => {
    const { get } = await start()
    const { agents: rows } = (await get('admin', 'agents/execution-stats')).json
    assert.deepEqual(rows, [
      {
        name: 'scout',
        task_count: 4,
        success_count: 2,
        failed_count: 1,
        running_count: 0,
        queued_count: 0,
        success_rate: 2 / 3,
        total_cost: 0.25,
        cost_estimated: true,
        last_execution_at: '2026-01-05T06:30:00.000Z',
        schedules_total: 3,
        schedules_enabled: 2,
      },
      {
        name: 'rover',
        task_count: 1,
        success_count: 0,
        failed_count: 0,
        running_count: 1,
        queued_count: 1,
        success_rate: null,
        total_cost: 0,
        cost_estimated: false,
        last_execution_at: '2026-01-05T07:00:00.000Z',
        schedules_total: 0,
        schedules_enabled: 0,
      },
    ])
    const week = (await get('shared', 'agents/execution-stats?hours=1&include_7d=true')).json.agents
    assert.equal(week.length, 1)
    assert.deepEqual(
      [week[0].task_count, week[0].task_count_7d, week[0].failed_count_7d, week[0].total_cost_7d],
      [0, 5, 2, 1.25],
    )
    assert.deepEqual([week[0].cost_estimated, week[0].cost_estimated_7d], [false, true])
    assert.deepEqual((await get('stranger', 'agents/execution-stats')).json, { agents: [] })
  })

  test('slots of every accessible agent, with its queue length and breaker state', async () => {
    const held = { agent_id: 'a2', status: 'queued' as const, queued_at: null, fan_out_id: 'fo_1' }
    const { get, clock } = await start([...runs, held])
    assert.deepEqual((await get('ops', 'agents/slots')).json, {
      timestamp: clock.now().toISOString(),
      agents: { scout: { max: 2, active: 0, queued: 0 }, rover: { max: 5, active: 1, queued: 1 } },
      circuit_breakers: { scout: 'closed', rover: 'half_open' },
    })
    assert.deepEqual(Object.keys((await get('shared', 'agents/slots')).json.agents), ['scout'])
  })
})
