import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json, startChatPlatform } from '../../test/chat-platform.ts'
import { agentFact } from '../../test/run-platform.ts'

test('504 after twice the timeout; the turn continues', async () => {
  const { call, woken, clock, platform } = await startChatPlatform()
  platform.agents.set('a1', agentFact({ execution_timeout_seconds: 60 }))
  const wake = woken()
  const reply = call('ann', 'POST', '/chat', { message: 'hi' }, json)
  await wake
  await clock.waitingFor(120)
  await clock.advance(120)
  const { status, json: body } = await reply
  assert.deepEqual([status, body.error, body.status], [504, 'sync_wait_exceeded', 'queued_timeout'])
  assert.equal((await platform.row(body.execution_id)).status, 'queued')
})

test('a refused request stores no run and no message', async () => {
  const { call, platform, messages } = await startChatPlatform()
  const refused: [object, number, string][] = [
    [{}, 422, 'validation_error'],
    [{ message: '' }, 422, 'validation_error'],
    [{ message: '  \n ' }, 422, 'validation_error'],
    [{ message: 5 }, 422, 'validation_error'],
    [{ message: 'x'.repeat(100_001) }, 422, 'validation_error'],
    [{ message: 'hi', model: 'llama-3' }, 422, 'invalid_model'],
    [{ message: 'hi', files: 'x' }, 422, 'validation_error'],
    [
      { message: 'hi', files: [{ name: 'a', mimetype: 'text/plain', data_base64: '***' }] },
      422,
      'attachment_rejected',
    ],
    [
      {
        message: 'hi',
        files: [
          { name: 'a', mimetype: 'text/plain', data_base64: Buffer.alloc(5_300_000, 'x').toString('base64') },
        ],
      },
      413,
      'attachment_too_large',
    ],
  ]
  for (const form of [{}, json, { accept: 'text/event-stream' }]) {
    for (const [body, status, error] of refused) {
      const reply = await call('ann', 'POST', '/chat', body, form)
      assert.deepEqual([reply.status, reply.json.error], [status, error], JSON.stringify(body).slice(0, 80))
    }
  }
  platform.agents.set('a1', agentFact({ status: 'exited' }))
  assert.equal((await call('ann', 'POST', '/chat', { message: 'hi' })).json.error, 'agent_not_running')
  assert.deepEqual((await call('ann', 'GET', '/executions')).json, [])
  assert.deepEqual(await messages(), [])
  assert.deepEqual((await call('ann', 'GET', '/chat/sessions')).json.sessions, [])
})

test('429 queue_full at the limit, and nothing is stored', async () => {
  const { call, woken, messages, platform } = await startChatPlatform()
  const abandoned: Promise<unknown>[] = []
  for (let number = 0; number < 5; number += 1) {
    const wake = woken()
    abandoned.push(call('ann', 'POST', '/chat', { message: `${number}` }))
    await wake
  }
  const { status, json: body } = await call('ann', 'POST', '/chat', { message: 'too many' })
  assert.deepEqual([status, body.error, body.agent_name, body.queue_length], [429, 'queue_full', 'scout', 5])
  assert.equal((await messages()).length, 5)
  await platform.db.atomically((tx) => platform.dispatch.agentDeleted(tx, 'a1'))
  await Promise.all(abandoned)
})

test('a queued turn reports its queue position', async () => {
  const { call, woken, work } = await startChatPlatform()
  const replies: ReturnType<typeof call>[] = []
  for (let number = 0; number < 3; number += 1) {
    const wake = woken()
    replies.push(call('ann', 'POST', '/chat', { message: `${number}` }, json))
    await wake
  }
  for (let number = 0; number < 3; number += 1) await work()
  const executions = (await Promise.all(replies)).map((reply) => reply.json.execution)
  assert.deepEqual(
    executions.map(({ queue_status, was_queued }) => [queue_status, was_queued]),
    [
      ['running', false],
      ['queued:2', true],
      ['queued:3', true],
    ],
  )
})

test('files are sent with the run and listed in the message', async () => {
  const { turn, messages } = await startChatPlatform()
  const files = [{ name: 'dir/a.txt', mimetype: 'text/plain', size: 2, data_base64: 'aGk=' }]
  const { run } = await turn('ann', '/chat', { message: 'look', files })
  assert.deepEqual(
    run.attachments.map(({ name, mimetype, size, data_base64 }) => [name, mimetype, size, data_base64]),
    [['a.txt', 'text/plain', 2, 'aGk=']],
  )
  assert.deepEqual((await messages())[0].files, [
    { name: 'a.txt', mimetype: 'text/plain', size: 2, picture_id: null },
  ])
})

test('model and timeout of a session message reach the run, the timeout at most the cap', async () => {
  const { call, turn, platform } = await startChatPlatform()
  const session = (await call('ann', 'POST', '/sessions', {})).json
  const path = `/sessions/${session.id}/message`
  const { run } = await turn('ann', path, { message: 'hi', model: 'opus', timeout_seconds: 60 })
  assert.deepEqual([run.model, run.timeout_seconds, run.session_id], ['opus', 60, session.id])
  assert.equal((await platform.row(run.execution_id)).triggered_by, 'session')
  const capped = await turn('ann', path, { message: 'hi', timeout_seconds: 100_000 })
  assert.equal(capped.run.timeout_seconds, 3600)
  for (const timeout_seconds of [9, 60.5, '60']) {
    assert.equal((await call('ann', 'POST', path, { message: 'hi', timeout_seconds })).status, 422)
  }
})

test('an idempotency key returns the stored reply, 409 during the run, and a new run after a failure', async () => {
  const { call, turn, woken, work } = await startChatPlatform()
  const keyed = { ...json, 'idempotency-key': 'k1' }
  const wake = woken()
  const first = call('ann', 'POST', '/chat', { message: 'hi' }, keyed)
  await wake
  const busy = await call('ann', 'POST', '/chat', { message: 'hi' }, keyed)
  assert.deepEqual([busy.status, busy.json.error], [409, 'request_in_progress'])
  const run = await work()
  assert.equal(busy.json.execution_id, run.execution_id)
  const { json: reply } = await first
  const again = await call('ann', 'POST', '/chat', { message: 'hi' }, keyed)
  assert.equal(again.headers['x-idempotent-replay'], 'true')
  assert.deepEqual(again.json, reply)
  const streamed = await call('ann', 'POST', '/chat', { message: 'hi' }, { 'idempotency-key': 'k1' })
  assert.deepEqual(
    streamed.objects.map(({ type, response }) => [type, response]),
    [['done', 'hello']],
  )
  const failed = { status: 'failed' as const, error: 'x', error_code: 'agent_error' as const }
  const other = { ...json, 'idempotency-key': 'k2' }
  assert.equal((await turn('ann', '/chat', { message: 'hi' }, failed, other)).status, 503)
  assert.equal((await turn('ann', '/chat', { message: 'hi' }, {}, other)).status, 200)
})

test('a key belongs to its holder; a refused request does not use it up', async () => {
  const { call, turn } = await startChatPlatform()
  const keyed = { ...json, 'idempotency-key': 'k1' }
  assert.equal((await call('ann', 'POST', '/chat', { message: 'hi', model: 'nonsense' }, keyed)).status, 422)
  const own = await turn('ann', '/chat', { message: 'hi' }, {}, keyed)
  const other = await turn('bob', '/chat', { message: 'hi' }, {}, keyed)
  assert.notEqual(own.run.execution_id, other.run.execution_id)
})
