import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, openTestDatabase, type TestDb } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { agentFact, linked, person, resultOf } from '../../test/run-platform.ts'
import { executionStore } from '../executions/index.ts'
import { fanOutRoutes } from './index.ts'
import { startFanOutPlatform } from './test/fan-out-platform.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read responses field by field; the server checks their schemas
type Loose = any

const key = (scope: 'agent' | 'connector' | 'user', agent_id: string | null) => ({
  kind: 'key' as const,
  user: person().user,
  key: { id: `k-${scope}-${agent_id}`, name: scope, scope, agent_id },
})
const tasks = (...messages: string[]) => ({ tasks: messages.map((message) => ({ message })) })
const three = tasks('one', 'two', 'three')
const failed = { status: 'failed', response: null, error: 'no', error_code: 'agent_error' } as const

async function start(db: TestDb, clock = createTestClock()) {
  const on = await startFanOutPlatform({ db, clock })
  on.agents.set('a1', agentFact({ effective_slots: 10, execution_timeout_seconds: 100 }))
  const app = routesApp(fanOutRoutes(on.fanOuts, { clock, everySeconds: 15 }), {
    ann: { caller: person(), relation: 'owner' },
    'ann with her key': { caller: key('user', null), relation: 'owner' },
    bob: { caller: person({ id: 'u2', username: 'bob', email: 'bob@example.org' }), relation: 'shared' },
    stranger: { caller: person({ id: 'u9' }), relation: null },
    other: { caller: key('agent', 'a2'), relation: 'permitted' },
    third: { caller: key('agent', 'a3'), relation: 'permitted' },
    connector: { caller: key('connector', 'a1'), relation: 'shared' },
  })
  type Call = { status: number; headers: Record<string, unknown>; json: Loose }
  async function send(
    who: string,
    method: 'GET' | 'POST',
    path: string,
    payload?: object,
    idempotencyKey?: string,
  ): Promise<Call> {
    const headers = as(who, idempotencyKey ? { 'idempotency-key': idempotencyKey } : {})
    const url = `/api/agents/scout/fan-out${path}`
    const reply = await app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
    return { status: reply.statusCode, headers: reply.headers, json: reply.body ? reply.json() : null }
  }
  /** Completes all claimable runs until none is left. */
  async function workAll(over: Parameters<typeof resultOf>[1] = {}) {
    for (;;) {
      const { runs } = await on.dispatch.handlers.claim(linked, { t: 'claim', free: 20 })
      if (runs.length === 0) return
      for (const run of runs) await on.dispatch.handlers.result(linked, resultOf(run, over))
      await on.fanOuts.settled()
    }
  }
  const total = () => executionStore(db).count({ agentId: 'a1' })
  return {
    ...on,
    clock,
    app,
    workAll,
    total,
    post: (who: string, body: object, idempotencyKey?: string) => send(who, 'POST', '', body, idempotencyKey),
    get: (who: string, id: string) => send(who, 'GET', `/${id}`),
    /** A waiting request that has found open tasks: it polls again in five seconds. */
    async waiting(who: string, body: object, idempotencyKey?: string) {
      const reply = send(who, 'POST', '', body, idempotencyKey)
      await clock.waitingFor(5)
      return { reply }
    },
  }
}
const open = async () => start(await openTestDatabase())

test('async: an immediate receipt, then polling returns the progress', async () => {
  const { post, get, workAll } = await open()
  const body = { tasks: [{ id: 'a', message: 'x' }, { message: 'y' }, { id: null, message: 'z' }] }
  const { status, json } = await post('ann', { ...body, async_mode: true })
  assert.equal(status, 200)
  assert.match(json.fan_out_id, /^fo_[A-Za-z0-9_-]{22}$/)
  assert.deepEqual([json.status, json.agent_name, json.total, json.queued], ['accepted', 'scout', 3, 3])
  assert.deepEqual(
    json.results.map((task: Loose) => [task.id, task.status, task.response]),
    [
      ['a', 'queued', null],
      ['t2', 'queued', null],
      ['t3', 'queued', null],
    ],
  )
  assert.equal((await get('ann', json.fan_out_id)).json.status, 'running')
  await workAll()
  const done = (await get('bob', json.fan_out_id)).json
  assert.deepEqual([done.status, done.completed], ['completed', 3])
  assert.deepEqual(Object.keys(done.results[0]).sort(), [
    ...['completed_at', 'context_used', 'cost', 'cost_estimated', 'duration_ms', 'error', 'error_code'],
    ...['execution_id', 'id', 'model_used', 'response', 'started_at', 'status'],
  ])
})

test('generated ids never collide with given ones; 422 for a duplicate names its index', async () => {
  const { post } = await open()
  const ids = async (...given: (string | null)[]) => {
    const tasks = given.map((id, index) => ({ ...(id === null ? {} : { id }), message: `task ${index}` }))
    const { status, json } = await post('ann', { tasks, async_mode: true })
    return status === 200 ? json.results.map((task: Loose) => task.id) : json.detail
  }
  assert.deepEqual(await ids(null, 't1', 't1_2', null), ['t1_3', 't1', 't1_2', 't4'])
  assert.deepEqual(await ids('t2', null, 't3', null), ['t2', 't2_2', 't3', 't4'])
  assert.deepEqual(await ids(null, 'x', 'y', 'x'), [
    { loc: ['body', 'tasks', 3, 'id'], msg: '"x" is already the id of tasks[1]', type: 'custom' },
  ])
})

test('every run has the model, prompt, tools, caller and task id of the request', async () => {
  const { post, row } = await open()
  const options = { model: 'opus', system_prompt: 'be brief', allowed_tools: ['Read'], async_mode: true }
  const { json } = await post('other', { ...tasks('x'), ...options })
  const run = await row(json.results[0].execution_id)
  assert.deepEqual(
    [run.kind, run.triggered_by, run.model, run.allowed_tools, run.source_agent_name, run.chain_depth],
    ['task', 'fan_out', 'opus', '["Read"]', 'name-of-a2', 1],
  )
  assert.deepEqual([run.fan_out_id, run.fan_out_task_id], [json.fan_out_id, 't1'])
  assert.equal(JSON.parse(run.request).system_prompt, 'be brief')
  assert.equal(run.timeout_seconds, 100)
})

test('waiting: the response comes after the last task, in request order', async () => {
  const { waiting, workAll } = await open()
  const { reply } = await waiting('ann', { ...three, max_concurrency: 1 })
  await workAll()
  const { status, json } = await reply
  assert.deepEqual([status, json.status, json.completed], [200, 'completed', 3])
  assert.deepEqual(
    json.results.map((task: Loose) => [task.id, task.response]),
    [
      ['t1', 'done'],
      ['t2', 'done'],
      ['t3', 'done'],
    ],
  )
})

test('timeout_seconds limits only the wait: deadline_exceeded, and the tasks continue', async () => {
  const { waiting, clock, get, workAll } = await open()
  const { reply } = await waiting('ann', { ...three, timeout_seconds: 30 })
  await clock.advance(31)
  const { status, json } = await reply
  assert.deepEqual([status, json.status, json.queued], [200, 'deadline_exceeded', 3])
  await workAll()
  assert.equal((await get('ann', json.fan_out_id)).json.status, 'completed')
})

test('without timeout_seconds the wait covers every round of tasks plus a minute', async () => {
  const { waiting, clock } = await open()
  const { reply } = await waiting('ann', { ...three, max_concurrency: 2 })
  let answered = false
  void reply.then(() => {
    answered = true
  })
  await clock.advance(255)
  assert.equal(answered, false)
  await clock.advance(6)
  assert.equal((await reply).json.status, 'deadline_exceeded')
})

test('an end in another process without a notice is found within seconds', async () => {
  const db = await openTestDatabase()
  const { waiting, clock } = await start(db)
  const { reply } = await waiting('ann', tasks('x'))
  const elsewhere = await start(db)
  await elsewhere.workAll()
  await clock.advance(6)
  assert.equal((await reply).json.status, 'completed')
})

test('after a disconnect or a shutdown the fan-out continues, and the response says running', async () => {
  const { fanOuts, get, workAll, post } = await open()
  const { json } = await post('ann', { ...three, async_mode: true })
  const client = new AbortController()
  const fanOut = {
    ...{ id: json.fan_out_id, agent_id: 'a1', max_concurrency: 3, source_mcp_key_id: null },
    ...{ created_at: json.created_at, completed_at: null },
  }
  const claim = { take: async () => {}, complete: () => assert.fail('settled'), release: async () => {} }
  const reply = fanOuts.wait({ fanOut, tasks: [], waitSeconds: 60 }, claim, client.signal)
  client.abort()
  assert.deepEqual(await reply, (await get('ann', json.fan_out_id)).json)
  assert.equal((await reply).status, 'running')
  await workAll()
  assert.equal((await get('ann', json.fan_out_id)).json.status, 'completed')
})

test('404 for an unknown fan-out, and for a calling agent on fan-outs of others', async () => {
  const { post, get } = await open()
  const { json } = await post('other', { ...three, async_mode: true })
  for (const who of ['ann', 'bob', 'other']) assert.equal((await get(who, json.fan_out_id)).status, 200)
  for (const [who, id] of [
    ['third', json.fan_out_id],
    ['ann', 'fo_unknown'],
  ]) {
    const reply = await get(who, id)
    assert.deepEqual([reply.status, reply.json.error], [404, 'not_found'])
  }
  assert.equal((await get('stranger', json.fan_out_id)).json.error, 'agent_not_found')
  assert.equal((await post('stranger', three)).json.error, 'agent_not_found')
  assert.deepEqual((await post('connector', three)).json.error, 'scope_not_allowed')
})

const refused: [what: string, body: object, loc: (string | number)[]][] = [
  ['no tasks', { tasks: [] }, ['tasks']],
  ['51 tasks', tasks(...Array(51).fill('x')), ['tasks']],
  [
    'an id twice',
    {
      tasks: [
        { id: 'a', message: 'x' },
        { id: 'a', message: 'y' },
      ],
    },
    ['tasks', 1, 'id'],
  ],
  ['a bad id', { tasks: [{ id: 'a b', message: 'x' }] }, ['tasks', 0, 'id']],
  ['a blank message', tasks(' '), ['tasks', 0, 'message']],
  ['a long message', tasks('x'.repeat(100_001)), ['tasks', 0, 'message']],
  ['no concurrency', { ...three, max_concurrency: 0 }, ['max_concurrency']],
  ['concurrency 11', { ...three, max_concurrency: 11 }, ['max_concurrency']],
  ['a short wait', { ...three, timeout_seconds: 9 }, ['timeout_seconds']],
  ['a long wait', { ...three, timeout_seconds: 86_401 }, ['timeout_seconds']],
]
for (const [what, body, loc] of refused) {
  test(`422 for ${what}, with the field name`, async () => {
    const { post, total } = await open()
    const { status, json } = await post('ann', body)
    assert.deepEqual([status, json.error], [422, 'validation_error'])
    assert.deepEqual(json.detail[0].loc, ['body', ...loc])
    assert.equal(await total(), 0)
  })
}

test('a rejected request leaves no rows and releases its key', async () => {
  const { post, agents, total } = await open()
  const bad = await post('ann', { ...three, model: 'parrot' }, 'k')
  assert.deepEqual([bad.status, bad.json.error, bad.json.value], [422, 'invalid_model', 'parrot'])
  agents.set('a1', agentFact({ status: 'stopped' }))
  assert.deepEqual((await post('ann', { ...three, async_mode: true }, 'k')).json.error, 'agent_not_running')
  assert.equal(await total(), 0)
  agents.set('a1', agentFact())
  assert.equal((await post('ann', { ...three, async_mode: true }, 'k')).json.status, 'accepted')
})

forEachDialect((_, openDb) => {
  test('20 concurrent requests with one key start one fan-out; a replay returns the same receipt', async () => {
    const { post, total } = await start(await openDb())
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => post('ann', { ...three, async_mode: true }, 'k')),
    )
    assert.equal(new Set(replies.map(({ json }) => JSON.stringify(json))).size, 1)
    assert.equal(replies.filter(({ headers }) => headers['x-idempotent-replay'] === undefined).length, 1)
    assert.equal(await total(), 3)
  })

  test('409 with fan_out_id while the first request waits; later a replay of its response', async () => {
    const db = await openDb()
    const { waiting, post, workAll, total } = await start(db)
    const { reply } = await waiting('ann', three, 'k')
    const duplicate = await post('ann', three, 'k')
    assert.deepEqual([duplicate.status, duplicate.json.error], [409, 'request_in_progress'])
    await workAll()
    const first = await reply
    assert.equal(first.json.fan_out_id, duplicate.json.fan_out_id)
    // Another process replays it too.
    for (const { post: again } of [{ post }, await start(db)]) {
      const replay = await again('ann', three, 'k')
      assert.deepEqual([replay.status, replay.headers['x-idempotent-replay']], [200, 'true'])
      assert.deepEqual(replay.json, first.json)
    }
    assert.equal(await total(), 3)
  })
})

test('a fan-out without a successful task releases its key, with and without waiting', async () => {
  for (const async_mode of [true, false]) {
    const { post, waiting, workAll, total } = await open()
    const body = { ...three, async_mode }
    const begun = async_mode ? { reply: post('ann', body, 'k') } : await waiting('ann', body, 'k')
    if (async_mode) await begun.reply
    await workAll(failed)
    const first = await begun.reply
    const next = await post('ann', { ...three, async_mode: true }, 'k')
    assert.equal(next.headers['x-idempotent-replay'], undefined)
    assert.notEqual(next.json.fan_out_id, first.json.fan_out_id)
    assert.equal(await total(), 6)
  }
})

test('200 replays a wait that timed out while the tasks continue', async () => {
  const { waiting, clock, post, workAll } = await open()
  const { reply } = await waiting('ann', { ...three, timeout_seconds: 10 }, 'k')
  await clock.advance(11)
  const first = await reply
  for (let again = 0; again < 2; again += 1) {
    const replay = await post('ann', three, 'k')
    assert.deepEqual([replay.status, replay.json], [200, first.json])
    await workAll()
  }
})

test('idempotency keys are separate per person, agent and connector', async () => {
  const { post } = await open()
  const body = { ...three, async_mode: true }
  const ids = new Set<string>()
  const callers = ['ann', 'bob', 'other', 'third', 'connector']
  for (const who of callers) ids.add((await post(who, body, 'k')).json.fan_out_id)
  assert.equal(ids.size, callers.length)
  assert.ok(
    ids.has((await post('ann with her key', body, 'k')).json.fan_out_id),
    'all keys of a person share idempotency keys',
  )
})
