/** Fan-outs: their results, what ends them, and what remains after a crash. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually, type Loose, type Platform, type Reply, signIn, startPlatform } from './platform.ts'
import { agentKeyOf, assertShape, createAgent, execution } from './steps.ts'

const name = 'qa-fan'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, name)
  await platform.request('PUT', `/api/agents/${name}/capacity`, { max_parallel_tasks: 5 })
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

type RequestOptions = { headers?: Record<string, string>; token?: string }
const api = (method: string, path: string, body?: object, options: RequestOptions = {}): Promise<Reply> =>
  platform.request(method, `/api/agents/${name}/${path}`, body, options)
const fanOut = (body: object, options: RequestOptions = {}) => api('POST', 'fan-out', body, options)
const poll = async (id: string): Promise<Loose> => (await api('GET', `fan-out/${id}`)).json
const messages = (...texts: string[]) => ({ tasks: texts.map((message) => ({ message })) })
const statuses = (fanOutState: Loose) => fanOutState.results.map((task: Loose) => task.status)
const until = (id: string, accept: (fanOutState: Loose) => boolean) =>
  eventually(() => poll(id), accept, 300_000)
const isOver = (fanOutState: Loose) => fanOutState.status !== 'running'
const fileOf = async (path: string) => (await api('GET', `files/download?path=${path}`)).text

test('the reply lists every task in request order, with response and cost', async () => {
  const body = { tasks: [{ id: 'slow', message: '[[sleep:1]] [[reply:one]]' }, { message: '[[reply:two]]' }] }
  const { status, json } = await fanOut(body)
  assert.deepEqual([status, json.status, json.completed], [200, 'completed', 2])
  const shape = {
    ...{
      fan_out_id: 'string',
      agent_name: 'string',
      status: 'string',
      created_at: 'string',
      results: 'array',
    },
    ...{ total: 'number', completed: 'number', failed: 'number', running: 'number', queued: 'number' },
    cancelled: 'number',
  }
  assertShape(json, shape, 'fan-out')
  assert.deepEqual(
    json.results.map((task: Loose) => [task.id, task.response]),
    [
      ['slow', 'one'],
      ['t2', 'two'],
    ],
  )
  for (const task of json.results) {
    assertShape(
      task,
      {
        ...{ id: 'string', execution_id: 'string', status: 'string', response: 'string', cost: 'number' },
        ...{ context_used: 'number', duration_ms: 'number', model_used: 'string', started_at: 'string' },
        ...{ completed_at: 'string', error: 'string?', error_code: 'string?' },
      },
      'task',
    )
    const row = await execution(platform, name, task.execution_id)
    assert.deepEqual([row.triggered_by, row.fan_out_id], ['fan_out', json.fan_out_id])
  }
  assert.deepEqual(await poll(json.fan_out_id), json)
})

test('a failed task does not stop the others, a terminated one is cancelled: partial', async () => {
  const body = messages('[[fail]]', '[[sleep:60]]', '[[reply:fine]]', 'held', '[[reply:last]]')
  const { fan_out_id } = (await fanOut({ ...body, max_concurrency: 2, async_mode: true })).json
  const [, second, , fourth] = (await poll(fan_out_id)).results
  const terminate = async (id: string) => (await api('POST', `executions/${id}/terminate`)).json.status
  assert.equal(await terminate(fourth.execution_id), 'cancelled_while_queued')
  await until(fan_out_id, (fanOutState) => fanOutState.results[2].status === 'completed')
  assert.equal(await terminate(second.execution_id), 'terminated')
  const fanOutState = await until(fan_out_id, isOver)
  assert.deepEqual(statuses(fanOutState), ['failed', 'cancelled', 'completed', 'cancelled', 'completed'])
  assert.deepEqual(
    [fanOutState.status, fanOutState.total, fanOutState.completed, fanOutState.failed, fanOutState.cancelled],
    ['partial', 5, 2, 1, 2],
  )
  assert.ok(fanOutState.results[0].error && fanOutState.results[0].error_code)
})

test('timeout_seconds ends the wait, not the tasks; the key returns the same fan-out', async () => {
  const body = messages('[[sleep:12]] [[reply:late]]')
  const headers = { 'idempotency-key': 'late' }
  const first = await fanOut({ ...body, timeout_seconds: 10 }, { headers })
  assert.deepEqual([first.status, first.json.status, first.json.running], [200, 'deadline_exceeded', 1])
  const replay = await fanOut(body, { headers })
  assert.equal(replay.headers.get('x-idempotent-replay'), 'true')
  assert.equal(replay.json.fan_out_id, first.json.fan_out_id)
  const fanOutState = await until(first.json.fan_out_id, isOver)
  assert.deepEqual([fanOutState.status, fanOutState.results[0].response], ['completed', 'late'])
})

test('the agent itself may fan out; an unknown id is 404', async () => {
  const token = await agentKeyOf(name)
  const { status, json } = await fanOut(messages('[[reply:own]]'), { token })
  assert.deepEqual([status, json.results[0]?.response], [200, 'own'])
  assert.equal((await api('GET', 'fan-out/fo_unknown')).json.error, 'not_found')
})

test('killed twice during ten tasks, three at a time: each runs once, none is lost', async () => {
  const numbers = Array.from({ length: 10 }, (_, index) => index + 1)
  const body = messages(
    ...numbers.map((n) => `[[tool:Bash:echo begin-${n} >> did.txt; sleep 2]] [[reply:did ${n}]]`),
  )
  const headers = { 'idempotency-key': 'ten' }
  // This request never gets a response.
  const broken = fanOut(body, { headers }).catch(() => null)
  await eventually(
    async () => (await api('GET', 'executions?triggered_by=fan_out&status=running')).json,
    (rows) => rows.length > 0,
  )
  const { error, fan_out_id } = (await fanOut(body, { headers })).json
  assert.equal(error, 'request_in_progress')
  for (const ended of [2, 6]) {
    await until(fan_out_id, (fanOutState) => {
      assert.ok(fanOutState.running <= 3, `${fanOutState.running} at a time`)
      return fanOutState.completed >= ended
    })
    await platform.killApi()
    await platform.startApi()
    platform.token = await signIn(platform)
  }
  assert.equal(await broken, null)
  const fanOutState = await until(fan_out_id, (state) => {
    assert.ok(state.running <= 3, `${state.running} at a time`)
    return isOver(state)
  })
  assert.deepEqual(
    [fanOutState.status, fanOutState.results.map((task: Loose) => task.response)],
    ['completed', numbers.map((n) => `did ${n}`)],
  )
  const did = (await fileOf('did.txt')).trim().split('\n').toSorted()
  assert.deepEqual(did, numbers.map((n) => `begin-${n}`).toSorted())
  const replay = await fanOut(body, { headers })
  assert.deepEqual([replay.status, replay.headers.get('x-idempotent-replay')], [200, 'true'])
  assert.deepEqual(replay.json, fanOutState)
})

test('fifty tasks are accepted; stopping the agent ends running tasks, deleting it ends all', async () => {
  const fifty = messages(...Array.from({ length: 50 }, () => '[[sleep:60]]'))
  const { fan_out_id, total } = (await fanOut({ ...fifty, async_mode: true })).json
  assert.equal(total, 50)
  await until(fan_out_id, (fanOutState) => fanOutState.running === 3)
  await api('POST', 'stop')
  const stopped = await until(fan_out_id, (fanOutState) => fanOutState.cancelled === 3)
  assert.deepEqual([stopped.status, stopped.running, stopped.queued], ['running', 0, 47])
  assert.equal((await fanOut(fifty)).json.error, 'agent_not_running')
  await api('POST', 'start')
  await until(fan_out_id, (fanOutState) => fanOutState.running === 3)
  assert.equal((await platform.request('DELETE', `/api/agents/${name}`)).status, 200)
  assert.equal((await api('GET', `fan-out/${fan_out_id}`)).json.error, 'agent_not_found')
})
