import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestDatabase } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { person } from '../../test/run-platform.ts'
import { loopRoutes } from './index.ts'
import { startLoopPlatform } from './test/loop-platform.ts'

const callers = {
  ann: { caller: person(), relation: 'shared' as const },
  sam: { caller: person({ id: 'u9', email: 'sam@example.org' }), relation: null },
}

async function start() {
  const on = await startLoopPlatform({ db: await openTestDatabase() })
  const app = routesApp(loopRoutes(on.loops), callers)
  const ask = async (method: 'GET' | 'POST', url: string, payload?: object, who = 'ann', headers = {}) => {
    const reply = await app.inject({
      method,
      url,
      headers: as(who, headers),
      ...(payload ? { payload } : {}),
    })
    return { status: reply.statusCode, headers: reply.headers, json: reply.json() }
  }
  return { ...on, ask }
}
const body = { message: 'go on {{run}}', max_runs: 3 }

test('202 with the id; a repeated key returns the same loop, marked as a replay', async () => {
  const { ask } = await start()
  const first = await ask('POST', '/api/agents/scout/loops', body, 'ann', { 'idempotency-key': 'k' })
  assert.equal(first.status, 202)
  assert.deepEqual(Object.keys(first.json), ['loop_id', 'status', 'agent_name', 'max_runs', 'on_failure'])
  const again = await ask('POST', '/api/agents/scout/loops', body, 'ann', { 'idempotency-key': 'k' })
  assert.deepEqual([again.status, again.json], [202, first.json])
  assert.equal(again.headers['x-idempotent-replay'], 'true')
})

test('a loop can be read by its starter, listed for its agent, and stopped', async () => {
  const { ask } = await start()
  const { loop_id } = (await ask('POST', '/api/agents/scout/loops', body)).json
  const loop = await ask('GET', `/api/loops/${loop_id}`)
  assert.deepEqual([loop.status, loop.json.status, loop.json.runs.length], [200, 'queued', 1])
  const list = await ask('GET', '/api/agents/scout/loops?status=queued&limit=1')
  assert.deepEqual(list.json, [loop.json])
  const stopped = await ask('POST', `/api/loops/${loop_id}/stop`)
  assert.deepEqual([stopped.status, stopped.json], [200, { loop_id, status: 'stopping' }])
})

test('404 loop_not_found for an unknown id and for a stranger', async () => {
  const { ask } = await start()
  const { loop_id } = (await ask('POST', '/api/agents/scout/loops', body)).json
  for (const [url, who] of [
    ['/api/loops/loop_unknown', 'ann'],
    [`/api/loops/${loop_id}`, 'sam'],
  ] as const) {
    const reply = await ask('GET', url, undefined, who)
    assert.deepEqual([reply.status, reply.json.error], [404, 'loop_not_found'])
  }
})

test('422 for invalid loop settings', async () => {
  const { ask } = await start()
  for (const over of [
    { max_runs: 101 },
    { message: ' ' },
    { message: '{{previous_response}}'.repeat(101) },
    { delay_seconds: 3601 },
    { max_duration_seconds: 604_801 },
    { max_cost_usd: 0 },
    { no_progress_threshold: 1 },
    { max_consecutive_failures: 0 },
    { on_failure: 'retry' },
    { stop_signal: 'x'.repeat(201) },
    { timeout_per_run: 9 },
    { timeout_per_run: 7201 },
  ]) {
    const reply = await ask('POST', '/api/agents/scout/loops', { ...body, ...over })
    assert.deepEqual([reply.status, reply.json.error], [422, 'validation_error'], JSON.stringify(over))
  }
})

test('422 naming the field: null means no limit and is invalid where there is a default', async () => {
  const { ask } = await start()
  for (const field of ['delay_seconds', 'no_progress_threshold', 'on_failure', 'max_consecutive_failures']) {
    const reply = await ask('POST', '/api/agents/scout/loops', { ...body, [field]: null })
    assert.deepEqual([reply.status, reply.json.detail?.[0]?.loc], [422, ['body', field]], field)
  }
  const open = { stop_signal: null, timeout_per_run: null, max_duration_seconds: null, max_cost_usd: null }
  assert.equal((await ask('POST', '/api/agents/scout/loops', { ...body, ...open })).status, 202)
})
