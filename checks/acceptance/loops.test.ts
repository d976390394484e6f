/** Loops: how they continue, what ends them, and what remains after a crash. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually, type Loose, type Platform, type Reply, signIn, startPlatform } from './platform.ts'
import { agentKeyOf, assertShape, createAgent, execution } from './steps.ts'

const name = 'qa-loop'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

type RequestOptions = { headers?: Record<string, string>; token?: string }
const start = (body: object, options: RequestOptions = {}): Promise<Reply> =>
  platform.request('POST', `/api/agents/${name}/loops`, body, options)
const startLoop = async (body: object): Promise<string> => {
  const reply = await start(body)
  assert.equal(reply.status, 202, reply.text)
  return reply.json.loop_id
}
const read = async (id: string): Promise<Loose> => (await platform.request('GET', `/api/loops/${id}`)).json
const stop = async (id: string) => (await platform.request('POST', `/api/loops/${id}/stop`)).json
const isOver = (loop: Loose) => !['queued', 'running'].includes(loop.status)
const until = (id: string, accept: (loop: Loose) => boolean) => eventually(() => read(id), accept, 300_000)
const outcome = (loop: Loose) => [loop.status, loop.stop_reason, loop.runs_completed]

test('each run gets its number and the previous reply; the record has all runs', async () => {
  const body = { message: '{{run}} after "{{previous_response}}"', max_runs: 3, on_failure: 'continue' }
  const reply = await start(body)
  assert.equal(reply.status, 202)
  const { loop_id } = reply.json
  assert.deepEqual(reply.json, {
    ...{ loop_id, status: 'queued', agent_name: name, max_runs: 3, on_failure: 'continue' },
  })
  const loop = await until(loop_id, isOver)
  assert.deepEqual(outcome(loop), ['completed', 'max_runs_reached', 3])
  assertShape(
    loop,
    {
      ...{ loop_id: 'string', agent_name: 'string', stop_signal: 'string?', delay_seconds: 'number' },
      ...{ failed_runs: 'number', max_consecutive_failures: 'number', elapsed_seconds: 'number' },
      ...{ total_cost: 'number', no_progress_threshold: 'number', message: 'string', runs: 'array' },
      ...{ created_at: 'string', started_at: 'string', completed_at: 'string', started_by: 'string' },
      ...{ error: 'string?', last_response: 'string', next_run_at: 'string?', max_cost_usd: 'number?' },
    },
    'loop',
  )
  const [first, second] = loop.runs
  assertShape(
    first,
    {
      ...{ run_number: 'number', execution_id: 'string', status: 'string', response_preview: 'string' },
      ...{ cost: 'number', duration_ms: 'number', started_at: 'string', completed_at: 'string' },
    },
    'run',
  )
  const row = await execution(platform, name, second.execution_id)
  assert.deepEqual([row.triggered_by, row.loop_id], ['loop', loop_id])
  assert.equal(row.message, `2 after "${first.response_preview}"`)
  const sum = loop.runs.reduce((total: number, run: Loose) => total + run.cost, 0)
  assert.ok(Math.abs(loop.total_cost - sum) < 1e-9 && sum > 0)
})

test('the stop signal, the lack of progress and a failure end a loop', async () => {
  const signal = await startLoop({ message: 'run {{run}} is over', max_runs: 9, stop_signal: '2 is over' })
  const stuck = await startLoop({ message: '[[reply:the same]]', max_runs: 9 })
  const failing = await startLoop({ message: '[[fail]]', max_runs: 9 })
  const tolerant = await startLoop({ message: '[[fail]]', max_runs: 2, on_failure: 'continue' })
  assert.deepEqual(outcome(await until(signal, isOver)), ['completed', 'stop_signal_matched', 2])
  assert.deepEqual(outcome(await until(stuck, isOver)), ['stopped', 'no_progress', 3])
  const failed = await until(failing, isOver)
  assert.deepEqual(outcome(failed), ['failed', 'error', 1])
  assert.ok(failed.error && failed.runs[0].error)
  assert.deepEqual(outcome(await until(tolerant, isOver)), ['completed_with_errors', 'max_runs_reached', 2])
})

test('a stop lets the current run finish, and ends a delay immediately', async () => {
  const running = await startLoop({ message: '[[sleep:3]] [[reply:done]]', max_runs: 9 })
  await until(running, (loop) => loop.status === 'running')
  assert.deepEqual(await stop(running), { loop_id: running, status: 'stopping' })
  const ended = await until(running, isOver)
  assert.deepEqual(outcome(ended), ['stopped', 'user_stopped', 1])
  assert.equal(ended.last_response, 'done')
  assert.equal((await stop(running)).status, 'already_done')
  const waiting = await startLoop({ message: 'hello', max_runs: 9, delay_seconds: 3600 })
  await until(waiting, (loop) => loop.next_run_at !== null)
  await stop(waiting)
  assert.deepEqual(outcome(await until(waiting, isOver)), ['stopped', 'user_stopped', 1])
})

test('invalid input is refused and named; callers without access to the agent cannot start a loop', async () => {
  const cases: [object, number, string][] = [
    [{ message: 'x', max_runs: 0 }, 422, 'validation_error'],
    [{ message: 'x', max_runs: 2, no_progress_threshold: 1 }, 422, 'validation_error'],
    [{ message: 'x', max_runs: 2, timeout_per_run: 7200 }, 400, 'loop_timeout_exceeds_agent_cap'],
    [
      { message: 'x', max_runs: 2, timeout_per_run: 61, max_duration_seconds: 60 },
      400,
      'loop_deadline_below_run_timeout',
    ],
    [{ message: 'x', max_runs: 2, model: 'no-model' }, 422, 'invalid_model'],
  ]
  for (const [body, status, error] of cases) {
    const reply = await start(body)
    assert.deepEqual([reply.status, reply.json.error], [status, error], reply.text)
  }
  assert.equal((await read('loop_unknown')).error, 'loop_not_found')
  const own = await start({ message: '[[reply:own]]', max_runs: 1 }, { token: await agentKeyOf(name) })
  assert.equal(own.status, 202, own.text)
  assert.equal((await until(own.json.loop_id, isOver)).started_by, name)
})

test('killed five times within 20 runs: 20 executions, none doubled, the cost is their sum', async () => {
  const body = {
    message: '[[tool:Bash:echo begin-{{run}} >> did.txt]] [[reply:did {{run}}]]',
    max_runs: 20,
  }
  const headers = { 'idempotency-key': 'twenty' }
  const loop_id = (await start(body, { headers })).json.loop_id
  assert.equal((await start(body, { headers })).json.loop_id, loop_id)
  for (const ended of [1, 4, 8, 12, 17]) {
    await until(loop_id, (loop) => loop.runs_completed >= ended)
    await new Promise((done) => setTimeout(done, Math.random() * 700))
    await platform.killApi()
    await platform.startApi()
    platform.token = await signIn(platform)
  }
  const loop = await until(loop_id, isOver)
  assert.deepEqual(outcome(loop), ['completed', 'max_runs_reached', 20])
  assert.equal(new Set(loop.runs.map((run: Loose) => run.execution_id)).size, 20)
  const path = `/api/agents/${name}/executions?triggered_by=loop&limit=200`
  const rows = (await platform.request('GET', path)).json.filter((row: Loose) => row.loop_id === loop_id)
  assert.equal(rows.length, 20)
  assert.ok(rows.every((row: Loose) => row.status === 'success'))
  const sum = rows.reduce((total: number, row: Loose) => total + row.cost, 0)
  assert.ok(Math.abs(loop.total_cost - sum) < 1e-9 && sum > 0, `${loop.total_cost} of ${sum}`)
  const did = (await platform.request('GET', `/api/agents/${name}/files/download?path=did.txt`)).text
  const startedRuns = did.trim().split('\n')
  assert.deepEqual(
    startedRuns,
    Array.from({ length: 20 }, (_, index) => `begin-${index + 1}`),
  )
})
