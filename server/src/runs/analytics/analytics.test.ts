import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyCaller } from '../../identity/access/caller.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { as, type Callers, routesApp } from '../../test/routes-app.ts'
import { person } from '../../test/run-platform.ts'
import { insertRuns } from '../../test/run-rows.ts'
import type { ExecutionRow } from '../executions/index.ts'
import { analyticsRoutes } from './routes.ts'
import { createAnalytics } from './service.ts'

const key = (id: string, scope: 'agent' | 'ops' | 'connector', agentId: string | null = null): KeyCaller => ({
  kind: 'key',
  user: person({ role: scope === 'ops' ? 'admin' : 'user' }).user,
  key: { id, name: id, scope, agent_id: agentId },
})
const callers: Callers = {
  owner: { caller: person(), relation: 'owner' },
  shared: { caller: person({ id: 'u2' }), relation: 'shared' },
  admin: { caller: person({ id: 'u3', role: 'admin' }), relation: 'admin' },
  stranger: { caller: person({ id: 'u9' }), relation: null },
  'agent itself': { caller: key('k-scout', 'agent', 'a1'), relation: 'self' },
  'agent with an edge': { caller: key('k-rover', 'agent', 'a2'), relation: 'permitted' },
  ops: { caller: key('k-ops', 'ops'), relation: 'admin' },
  connector: { caller: key('k-connector', 'connector', 'a1'), relation: 'shared' },
}
const used = { input_tokens: 100, output_tokens: 10, cost_micros: 1_000_000 }
/** The current time is 08:00 on 5 January. */
const runs: Partial<ExecutionRow>[] = [
  { created_at: '2025-12-01T00:00:00.000Z', ...used },
  { created_at: '2025-12-29T07:59:59.999Z', ...used },
  { created_at: '2025-12-29T08:00:00.000Z', duration_ms: 100, context_used: 1_000, ...used },
  { created_at: '2025-12-30T00:00:00.000Z', status: 'failed', duration_ms: 9_000, ...used },
  { created_at: '2026-01-04T07:59:00.000Z', duration_ms: 300, triggered_by: 'loop', ...used },
  { created_at: '2026-01-05T00:00:00.000Z', triggered_by: 'agent', source_mcp_key_id: 'k-rover', ...used },
  { created_at: '2026-01-05T07:00:00.000Z', status: 'running' },
  { created_at: '2026-01-05T07:00:00.000Z', agent_id: 'a2', duration_ms: 1, ...used },
]

forEachDialect((_, open) => {
  async function start() {
    const db = await open()
    await insertRuns(db, runs)
    const analytics = createAnalytics({ db, clock: createTestClock() })
    const app = routesApp(analyticsRoutes(analytics), callers)
    return async (who: string, path: string) => {
      const reply = await app.inject({ url: `/api/agents/${path}`, headers: as(who) })
      return { status: reply.statusCode, json: reply.json() }
    }
  }

  test('analytics cover the last 7 × 24 hours, grouped by each UTC day they touch', async () => {
    const get = await start()
    const { json } = await get('owner', 'scout/analytics')
    assert.deepEqual([json.window, json.window_hours], ['7d', 168])
    assert.deepEqual(
      [json.total_executions, json.success_count, json.failed_count, json.success_rate],
      [5, 3, 1, 0.75],
    )
    assert.deepEqual(json.duration_ms, { avg: 200, p50: 100, p95: 300 })
    assert.deepEqual([json.cost_total, json.context_avg], [4, 1000])
    assert.deepEqual([json.sampled, json.sample_size], [false, 2])
    assert.deepEqual(
      json.timeline.map(({ date, total }: { date: string; total: number }) => [date, total]),
      [
        ['2025-12-29', 1],
        ['2025-12-30', 1],
        ['2025-12-31', 0],
        ['2026-01-01', 0],
        ['2026-01-02', 0],
        ['2026-01-03', 0],
        ['2026-01-04', 1],
        ['2026-01-05', 2],
      ],
    )
    assert.deepEqual(json.timeline.at(-1).by_type, { chats_tasks: 1, agents: 1 })
    assert.equal((await get('owner', 'scout/analytics?window=30d')).json.total_executions, 6)
  })

  test('token figures for all time, 24 hours, 7 days and each of seven days', async () => {
    const get = await start()
    const { json } = await get('owner', 'scout/token-stats')
    const times = (count: number) => ({
      input_tokens: 100 * count,
      output_tokens: 10 * count,
      cost: count,
      cost_estimated: false,
    })
    assert.deepEqual([json.lifetime, json.last_24h, json.last_7d], [times(6), times(1), times(4)])
    assert.deepEqual(
      json.daily.map(({ date, cost }: { date: string; cost: number }) => [date, cost]),
      [
        ['2025-12-30', 1],
        ['2025-12-31', 0],
        ['2026-01-01', 0],
        ['2026-01-02', 0],
        ['2026-01-03', 0],
        ['2026-01-04', 1],
        ['2026-01-05', 1],
      ],
    )
  })

  test('callers with access see all figures; a permitted agent sees those of its own calls', async () => {
    const get = await start()
    const table: [who: string, status: number, total: number | string][] = [
      ['owner', 200, 5],
      ['shared', 200, 5],
      ['admin', 200, 5],
      ['agent itself', 200, 5],
      ['agent with an edge', 200, 1],
      ['stranger', 404, 'agent_not_found'],
      ['ops', 403, 'scope_not_allowed'],
      ['connector', 403, 'scope_not_allowed'],
    ]
    for (const [who, status, total] of table) {
      const reply = await get(who, 'scout/analytics')
      assert.deepEqual([reply.status, reply.json.total_executions ?? reply.json.error], [status, total], who)
      assert.equal((await get(who, 'scout/token-stats')).status, status, who)
    }
    assert.equal((await get('agent with an edge', 'scout/token-stats')).json.lifetime.cost, 1)
  })

  test('422 for an unknown window', async () => {
    const get = await start()
    for (const window of ['1d', '8d', '', '7']) {
      const { status, json } = await get('owner', `scout/analytics?window=${window}`)
      assert.deepEqual([status, json.error], [422, 'validation_error'], window)
    }
  })
})
