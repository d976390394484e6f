import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { forEachDialect } from '../../test/dialects.ts'
import { startTaskApp } from '../../test/task-app.ts'

const message = 'do it'
const key = { 'idempotency-key': 'k1' }

forEachDialect((_, open) => {
  const start = async (options?: { queueDepth?: number; slots?: number }) =>
    startTaskApp(await open(), options)

  test('a repeated key gets the full response, marked as a replay', async () => {
    const { worked, task, call } = await start()
    const first = await worked('ann', { message }, {}, key)
    const again = await task('ann', { message }, key)
    assert.deepEqual([again.status, again.json], [200, first.json])
    assert.equal(again.headers['x-idempotent-replay'], 'true')
    assert.equal(again.headers['x-execution-id'], first.run.execution_id)
    assert.equal((await call('ann', 'GET', '/executions')).json.length, 1)
  })

  test('409 with the execution while the first request is queued or running', async () => {
    const { task, woken, claim, finish } = await start()
    const wake = woken()
    const first = task('ann', { message }, key)
    await wake
    const queued = await task('ann', { message }, key)
    const run = await claim()
    const running = await task('ann', { message, async_mode: true }, key)
    for (const { status, json, headers } of [queued, running]) {
      assert.deepEqual(
        [status, json.error, json.execution_id],
        [409, 'request_in_progress', run.execution_id],
      )
      assert.equal(headers['x-execution-id'], run.execution_id)
    }
    await finish(run)
    assert.equal((await first).status, 200)
  })

  test('20 concurrent requests with one key: one execution, 409 for the others', async () => {
    const { task, call } = await start()
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => task('ann', { message, async_mode: true }, key)),
    )
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
    assert.equal(new Set(replies.map(({ json }) => json.execution_id)).size, 1)
    assert.equal(replies.filter(({ headers }) => headers['x-idempotent-replay'] === undefined).length, 1)
    assert.equal((await call('ann', 'GET', '/executions')).json.length, 1)
  })

  test('20 concurrent requests with one key and room for one: none is queue_full', async () => {
    const { task, claim, finish, woken } = await start({ queueDepth: 1, slots: 1 })
    const wake = woken()
    const first = Promise.all(Array.from({ length: 20 }, () => task('ann', { message }, key)))
    await wake
    const run = await claim()
    await task('ann', { message, async_mode: true })
    await finish(run)
    const statuses = (await first).map(({ status }) => status)
    assert.deepEqual(
      statuses.filter((status) => status !== 200 && status !== 409),
      [],
    )
    const again = await task('ann', { message }, { 'idempotency-key': 'k2' })
    assert.equal(again.json.error, 'queue_full')
  })

  test('a failed, timed out or cancelled sync task releases its key', async () => {
    const { worked, task, woken, claim, call } = await start()
    for (const error_code of ['agent_error', 'timeout'] as const) {
      const failed = await worked('ann', { message }, { status: 'failed', error: 'x', error_code }, key)
      assert.ok(failed.status >= 500)
    }
    const wake = woken()
    const waiting = task('ann', { message }, key)
    await wake
    const run = await claim()
    await call('ann', 'POST', `/executions/${run.execution_id}/terminate`)
    assert.equal((await waiting).json.status, 'cancelled')
    assert.equal((await worked('ann', { message }, {}, key)).json.status, 'success')
    assert.equal((await call('ann', 'GET', '/executions')).json.length, 4)
  })

  test('200 with the receipt after the wait timed out; a failed run releases the key', async () => {
    const { task, woken, clock, claim, finish } = await start()
    const wake = woken()
    const waiting = task('ann', { message, timeout_seconds: 10 }, key)
    await wake
    await clock.waitingFor(20)
    await clock.advance(20)
    const exceeded = await waiting
    assert.equal(exceeded.status, 504)
    const receipt = {
      status: 'queued_timeout',
      execution_id: exceeded.json.execution_id,
      agent_name: 'scout',
      async_mode: true,
    }
    const replay = await task('ann', { message }, key)
    assert.deepEqual([replay.status, replay.json], [200, receipt])
    assert.equal(replay.headers['x-idempotent-replay'], 'true')
    const run = await claim()
    assert.deepEqual((await task('ann', { message }, key)).json, receipt)
    await finish(run, { status: 'failed', error: 'x', error_code: 'agent_error' })
    const fresh = await task('ann', { message, async_mode: true }, key)
    assert.deepEqual([fresh.json.status, fresh.headers['x-idempotent-replay']], ['accepted', undefined])
  })

  test('an async receipt is replayed during the run and after its success; a failure releases the key', async () => {
    const { task, claim, finish } = await start()
    const send = () => task('ann', { message, async_mode: true }, key)
    const first = await send()
    for (let step = 0; step < 3; step += 1) {
      const again = await send()
      assert.deepEqual([again.status, again.json], [200, first.json])
      assert.equal(again.headers['x-idempotent-replay'], 'true')
      if (step === 0) await finish(await claim())
    }
    const other = { 'idempotency-key': 'k2' }
    const doomed = await task('ann', { message, async_mode: true }, other)
    await finish(await claim(), { status: 'failed', error: 'x', error_code: 'agent_error' })
    const anew = await task('ann', { message, async_mode: true }, other)
    assert.notEqual(anew.json.execution_id, doomed.json.execution_id)
  })

  test('a disconnect does not end the task; the key answers 409, then the response', async () => {
    const { app, woken, claim, finish, task, platform } = await start()
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const client = new AbortController()
    const wake = woken()
    const request = fetch(`${url}/api/agents/scout/task`, {
      method: 'POST',
      headers: { authorization: 'Bearer ann', 'content-type': 'application/json', ...key },
      body: JSON.stringify({ message }),
      signal: client.signal,
    })
    await wake
    client.abort()
    await assert.rejects(request)
    const run = await claim()
    assert.equal((await task('ann', { message }, key)).status, 409)
    await finish(run)
    assert.equal((await platform.row(run.execution_id)).status, 'success')
    const replay = await task('ann', { message }, key)
    assert.deepEqual([replay.status, replay.json.response], [200, 'done'])
    await app.close()
  })

  test('a reused key with another body gets the first response and a log entry', async () => {
    const { task, warnings, finish, claim } = await start()
    const first = await task('ann', { message, async_mode: true }, key)
    await finish(await claim())
    const again = await task('ann', { message: 'something else', async_mode: true }, key)
    assert.deepEqual(again.json, first.json)
    assert.equal(warnings.filter((text) => /different body/.test(text)).length, 1)
  })

  test('a key belongs to one caller and one kind of request', async () => {
    const { task, call } = await start()
    const ofAnn = await task('ann', { message, async_mode: true }, key)
    const ofBob = await task('bob', { message, async_mode: true }, key)
    assert.notEqual(ofAnn.json.execution_id, ofBob.json.execution_id)
    assert.equal((await call('ann', 'GET', '/executions')).json.length, 2)
  })

  test('a failing key store does not stop tasks', async () => {
    const { task, platform } = await start()
    await sql`alter table idempotency_claims rename to hidden_claims`.execute(platform.db.withTables())
    for (let each = 0; each < 2; each += 1) {
      assert.equal((await task('ann', { message, async_mode: true }, key)).status, 200)
    }
  })
})
