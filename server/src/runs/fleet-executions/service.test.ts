import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyScope, Role } from '@roost/contracts/kit/access'
import { createAgentAccess } from '../../agents/access/index.ts'
import { type Agent, blankRow } from '../../agents/records/index.ts'
import type { KeyCaller, SignedIn } from '../../identity/access/caller.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { person } from '../../test/run-platform.ts'
import { insertRuns } from '../../test/run-rows.ts'
import { type ExecutionRow, mayRead } from '../executions/index.ts'
import { fleetExecutionRoutes } from './routes.ts'
import { createFleetExecutions } from './service.ts'

const user = (id: string, role: Role = 'user') =>
  person({ id, username: id, email: `${id}@example.org`, role })
const key = (
  id: string,
  scope: KeyScope,
  over: { owner?: string; role?: Role; agent?: string } = {},
): KeyCaller => ({
  kind: 'key',
  user: user(over.owner ?? 'ann', over.role).user,
  key: { id, name: id, scope, agent_id: over.agent ?? null },
})
/**
 * `scout` belongs to ann and is shared with ben, `rover` belongs to cid; the agent `rover` may call `scout`.
 */
const callers: Record<string, SignedIn> = {
  owner: user('ann'),
  'key of the owner': key('k-user', 'user'),
  shared: user('ben'),
  stranger: user('eve'),
  admin: user('root', 'admin'),
  system: key('k-system', 'system', { owner: 'root', role: 'admin' }),
  ops: key('k-ops', 'ops', { owner: 'root', role: 'admin' }),
  'agent itself': key('k-scout', 'agent', { agent: 'a1' }),
  'agent with an edge': key('k-rover', 'agent', { owner: 'cid', agent: 'a2' }),
  connector: key('k-connector', 'connector', { agent: 'a1' }),
  portal: key('k-portal', 'portal_delegate', { owner: 'root', role: 'admin' }),
}

function agent(id: string, name: string, owner: string, shares: string[] = []): Agent {
  const row = { ...blankRow(name, '2026-01-01T00:00:00.000Z'), id, owner_id: owner, state: 'ready' }
  // The code under test reads only the fields that decide about access.
  return { ...row, shares: shares.map((email) => ({ email })), tags: [] } as unknown as Agent
}
const agents = [agent('a1', 'scout', 'ann', ['ben@example.org']), agent('a2', 'rover', 'cid')]

/** The current time is 08:00 on 5 January; the message of a run serves as its name. */
const runs: Partial<ExecutionRow>[] = [
  { message: 'old', created_at: '2026-01-03T09:00:00.000Z', status: 'failed', cost_micros: 1_000_000 },
  {
    message: 'deleted',
    agent_id: 'a0',
    agent_name: 'ghost',
    agent_deleted: 1,
    created_at: '2026-01-04T10:00:00.000Z',
    status: 'cancelled',
  },
  {
    message: 'ann asks Plum',
    created_at: '2026-01-05T05:10:00.000Z',
    triggered_by: 'chat',
    kind: 'chat',
    source_user_id: 'ann',
    cost_micros: 250_000,
    cost_estimated: 1,
  },
  {
    message: 'ben asks plum',
    created_at: '2026-01-05T05:20:00.000Z',
    triggered_by: 'session',
    source_user_id: 'ben',
    status: 'failed',
    error: 'the plum was sour',
  },
  {
    message: 'rover asks scout',
    created_at: '2026-01-05T06:00:00.000Z',
    triggered_by: 'agent',
    source_user_id: 'cid',
    source_mcp_key_id: 'k-rover',
    source_mcp_scope: 'agent',
  },
  { message: 'on time', created_at: '2026-01-05T06:30:00.000Z', triggered_by: 'schedule', status: 'skipped' },
  {
    message: 'rover works',
    agent_id: 'a2',
    agent_name: 'rover',
    created_at: '2026-01-05T07:00:00.000Z',
    status: 'running',
  },
  {
    message: 'long queued',
    agent_id: 'a2',
    agent_name: 'rover',
    created_at: '2026-01-03T07:00:00.000Z',
    status: 'queued',
  },
]
const scoutRuns = ['on time', 'rover asks scout', 'ben asks plum', 'ann asks Plum', 'old']
const roverRuns = ['rover works', 'long queued']
const newestFirst = [
  'rover works',
  'on time',
  'rover asks scout',
  'ben asks plum',
  'ann asks Plum',
  'deleted',
  'old',
  'long queued',
]
const visibleRuns: Record<string, string[]> = {
  owner: scoutRuns,
  'key of the owner': scoutRuns,
  shared: scoutRuns,
  stranger: [],
  admin: newestFirst,
  system: newestFirst,
  ops: newestFirst.filter((message) => message !== 'deleted'),
  'agent itself': scoutRuns,
  'agent with an edge': newestFirst.filter((message) => [...roverRuns, 'rover asks scout'].includes(message)),
}

forEachDialect((_, open: OpenTestDb) => {
  async function start(rows: Partial<ExecutionRow>[] = runs) {
    const db = await open()
    const clock = createTestClock()
    const inserted = await insertRuns(db, rows)
    const agentAccess = createAgentAccess({
      agentRecords: { all: async () => agents, byName: async () => null },
      permittedTargets: async (id) => new Set(id === 'a2' ? ['a1'] : []),
      isConnectorOn: async () => true,
    })
    const fleet = createFleetExecutions({
      db,
      clock,
      agentAccess,
      effectiveParallel: async ({ id }) => (id === 'a1' ? 2 : 5),
      scheduleCounts: async () => new Map([['a1', { total: 3, enabled: 2 }]]),
      breakers: { dispatchStates: async () => new Map([['a2', 'half_open' as const]]) },
    })
    const app = routesApp(
      fleetExecutionRoutes(fleet),
      Object.fromEntries(Object.entries(callers).map(([name, caller]) => [name, { caller, relation: null }])),
    )
    const get = async (who: string, path: string) => {
      const reply = await app.inject({ url: `/api/${path}`, headers: as(who) })
      return { status: reply.statusCode, headers: reply.headers, json: reply.json() }
    }
    /** Messages may be withheld, so tests identify runs by id. */
    const messageOf = new Map(inserted.map((row) => [row.id, row.message]))
    const list = async (who: string, query: string) => {
      const { json, headers } = await get(who, `executions?${query}`)
      return {
        messages: json.map(({ id }: { id: string }) => messageOf.get(id)),
        total: Number(headers['x-total-count']),
      }
    }
    return { db, get, list, inserted, clock }
  }

  test('each caller sees the runs of its accessible agents, newest first', async () => {
    const { list } = await start()
    for (const [who, expected] of Object.entries(visibleRuns)) {
      assert.deepEqual(await list(who, 'hours=0'), { messages: expected, total: expected.length }, who)
    }
  })

  test('403 scope_not_allowed for scopes without fleet access; ops has no timeline', async () => {
    const { get } = await start()
    const paths = ['executions', 'executions/stats', 'agents/execution-stats', 'agents/slots']
    for (const path of [...paths, 'executions/timeline']) {
      for (const who of ['connector', 'portal']) {
        const { status, json } = await get(who, path)
        assert.deepEqual([status, json.error], [403, 'scope_not_allowed'], `${who} ${path}`)
      }
    }
    for (const path of paths) assert.equal((await get('ops', path)).status, 200, path)
    assert.equal((await get('ops', 'executions/timeline')).status, 403)
  })

  test('private messages are withheld and not searchable by callers who may not read them', async () => {
    const { get, list, inserted } = await start()
    for (const [who, messages] of Object.entries(visibleRuns)) {
      const caller = callers[who] ?? assert.fail()
      const readable = (row: ExecutionRow) => messages.includes(row.message) && mayRead(caller, row)
      const expected = inserted.filter((row) => /plum/i.test(row.message) && readable(row)).reverse()
      assert.deepEqual(
        await list(who, 'hours=0&search=pLuM'),
        { messages: expected.map(({ message }) => message), total: expected.length },
        who,
      )
      for (const row of (await get(who, 'executions?hours=0')).json) {
        const stored = inserted.find(({ id }) => id === row.id) ?? assert.fail()
        const isShown = mayRead(caller, stored)
        assert.deepEqual(
          [row.message, row.redacted],
          isShown ? [stored.message, undefined] : [null, true],
          who,
        )
        if (!isShown) assert.equal(row.error_summary, null)
      }
    }
  })

  test('a search takes wildcards literally, finds ids, and each page has the total', async () => {
    const rows = ['100% sure', '100 percent', 'a_b', 'aXb', 'back\\slash', "it's"].map((message, index) => ({
      message,
      created_at: `2026-01-05T0${index}:00:00.000Z`,
    }))
    const { list, inserted } = await start(rows)
    const found = async (text: string) =>
      (await list('owner', `hours=0&search=${encodeURIComponent(text)}`)).messages
    assert.deepEqual(await found('100%'), ['100% sure'])
    assert.deepEqual(await found('A_B'), ['a_b'])
    assert.deepEqual(await found('\\s'), ['back\\slash'])
    assert.deepEqual(await found("it's"), ["it's"])
    assert.deepEqual(await found((inserted[1]?.id ?? '').slice(0, 12)), ['100 percent'])
    assert.deepEqual(await list('owner', 'hours=0&search=100&limit=1&offset=1'), {
      messages: ['100% sure'],
      total: 2,
    })
    assert.deepEqual(await list('owner', 'hours=0&search=100&offset=9'), { messages: [], total: 2 })
    assert.deepEqual(await list('owner', 'hours=0&search=nowhere'), { messages: [], total: 0 })
  })

  test('filters work alone and combined', async () => {
    const { list } = await start()
    const messages = async (query: string) => (await list('admin', query)).messages
    assert.deepEqual(await messages(''), newestFirst.slice(0, 6), 'one day by default')
    assert.deepEqual(await messages('hours=2'), ['rover works', 'on time', 'rover asks scout'])
    assert.deepEqual(await messages('hours=0&status=failed'), ['ben asks plum', 'old'])
    assert.deepEqual(await messages('triggered_by=chat'), ['ann asks Plum'])
    assert.deepEqual(await messages('hours=0&agent=rover'), roverRuns)
    assert.deepEqual(await messages('hours=0&agent=ghost'), ['deleted'])
    assert.deepEqual(await messages('hours=0&agent=scout&status=failed&search=PLUM'), ['ben asks plum'])
    assert.deepEqual(await list('admin', 'hours=0&limit=2&offset=1'), {
      messages: newestFirst.slice(1, 3),
      total: newestFirst.length,
    })
    assert.deepEqual(await list('admin', 'hours=0&offset=99'), { messages: [], total: newestFirst.length })
  })

  test('runs with the same timestamp keep one order over pages', async () => {
    const at = '2026-01-05T07:00:00.000Z'
    const { list } = await start(
      Array.from({ length: 9 }, (_, index) => ({
        message: `${index}`,
        agent_id: index % 2 ? 'a1' : 'a2',
        created_at: at,
        queue_number: 1,
      })),
    )
    const whole = (await list('admin', '')).messages
    const pages = await Promise.all([0, 3, 6].map((offset) => list('admin', `limit=3&offset=${offset}`)))
    assert.deepEqual(
      pages.flatMap(({ messages }) => messages),
      whole,
    )
  })

  test('422 unknown_filter with the valid values, agents limited to the accessible ones', async () => {
    const { get } = await start()
    const refused = async (who: string, path: string) => {
      const { status, json } = await get(who, path)
      assert.deepEqual([status, json.error], [422, 'unknown_filter'], path)
      return json.offered
    }
    assert.ok((await refused('owner', 'executions?status=done')).includes('success'))
    assert.ok((await refused('owner', 'executions?triggered_by=magic')).includes('chat'))
    assert.deepEqual(await refused('owner', 'executions/timeline?group_by=week'), [
      'hour',
      'day',
      'trigger',
      'agent',
    ])
    for (const path of ['executions', 'executions/stats', 'executions/timeline']) {
      assert.deepEqual(await refused('owner', `${path}?agent=rover`), ['scout'])
      assert.deepEqual(await refused('owner', `${path}?agent=ghost`), ['scout'])
      assert.deepEqual(await refused('admin', `${path}?agent=nobody`), ['scout', 'rover'])
    }
    for (const query of ['hours=-1', 'hours=8761', 'hours=x', 'limit=0', 'limit=201', 'offset=-1']) {
      assert.equal((await get('admin', `executions?${query}`)).status, 422, query)
    }
    for (const search of ['x'.repeat(201), 'a%00b']) {
      assert.equal((await get('admin', `executions?search=${search}`)).status, 422, search)
    }
  })

  test('a deleted agent is marked for admins and kept apart from a new one of the same name', async () => {
    const { get, list } = await start([
      ...runs,
      { message: 'before', agent_id: 'a9', agent_name: 'scout', agent_deleted: 1 },
    ])
    const rows = (await get('admin', 'executions?hours=0')).json
    const marked = rows.filter((row: { agent_deleted?: boolean }) => row.agent_deleted)
    assert.deepEqual(marked.map(({ message }: { message: string }) => message).sort(), ['before', 'deleted'])
    assert.deepEqual((await list('admin', 'hours=0&agent=scout')).messages, scoutRuns)
    assert.ok(!(await list('owner', 'hours=0')).messages.includes('before'))
  })

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
