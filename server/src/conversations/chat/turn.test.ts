import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json, said, startChatPlatform } from '../../test/chat-platform.ts'
import { linked, resultOf } from '../../test/run-platform.ts'

test('a turn streams JSON lines: accepted, the transcript, done', async () => {
  const { turn, platform } = await startChatPlatform()
  const metadata = {
    cost_usd: 0.5,
    input_tokens: 3,
    output_tokens: 4,
    context_tokens: 50,
    context_window: 200,
  }
  const { status, headers, objects, run } = await turn('ann', '/chat', { message: 'hi' }, { metadata })
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'application/x-ndjson')
  assert.equal(headers['x-execution-id'], run.execution_id)
  assert.deepEqual(objects[0], {
    type: 'system',
    subtype: 'accepted',
    execution_id: run.execution_id,
    status: 'queued',
    session_id: run.session_id,
  })
  assert.deepEqual([objects[1].type, objects[1]._n], ['assistant', 1])
  const done = objects.at(-1)
  assert.equal(objects.length, 3)
  assert.deepEqual([done.type, done.status, done.response], ['done', 'success', 'hello'])
  assert.deepEqual(done.session, {
    id: run.session_id,
    message_count: 2,
    context_tokens: 50,
    context_window: 200,
    total_cost: 0.5,
    cost_estimated: false,
    title: 'hi',
  })
  assert.deepEqual(done.execution, {
    id: run.execution_id,
    task_execution_id: run.execution_id,
    status: 'success',
    queue_status: 'running',
    was_queued: false,
  })
  assert.equal(done.metadata.cost_usd, 0.5)
  assert.equal((await platform.row(run.execution_id)).triggered_by, 'chat')
})

test('the same objects as server-sent events, with line numbers as ids', async () => {
  const { turn } = await startChatPlatform()
  const { text, headers } = await turn('ann', '/chat', { message: 'hi' }, {}, { accept: 'text/event-stream' })
  assert.equal(headers['content-type'], 'text/event-stream')
  const events = text.trim().split('\n\n')
  assert.match(events[0] ?? '', /^data: \{"type":"system","subtype":"accepted"/)
  assert.match(events[1] ?? '', /^id: 1\ndata: \{"type":"assistant"/)
  assert.match(events[2] ?? '', /^data: \{"type":"done"/)
})

test('with Accept: application/json only the reply, with its log, when the turn ends', async () => {
  const { turn } = await startChatPlatform()
  const { json: reply, headers, run } = await turn('ann', '/chat', { message: 'hi' }, {}, json)
  assert.equal(headers['x-execution-id'], run.execution_id)
  assert.equal(reply.response, 'hello')
  assert.equal(reply.execution_log.length, 1)
  assert.equal(reply.type, undefined)
  const minimal = { ...json, prefer: 'return=minimal' }
  const { json: short, headers: minimalHeaders } = await turn('ann', '/chat', { message: 'hi' }, {}, minimal)
  assert.deepEqual([short.response, 'execution_log' in short], ['hello', false])
  assert.equal(minimalHeaders['preference-applied'], 'return=minimal')
})

test('partials of the answer precede their line; keepalive after 15 s of silence', async () => {
  const { call, platform, clock, woken } = await startChatPlatform()
  const wake = woken()
  const reply = call('ann', 'POST', '/chat', { message: 'hi' })
  await wake
  const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
  const run = runs[0] ?? assert.fail()
  const claim = { execution_id: run.execution_id, claim_token: run.claim_token }
  await clock.waitingFor(15)
  await clock.advance(15)
  await clock.waitingFor(15)
  await platform.dispatch.handlers.partial(linked, { t: 'partial', ...claim, kind: 'text', text: 'hel' })
  await platform.dispatch.handlers.lines(linked, { t: 'lines', ...claim, from: 1, lines: [said('hello')] })
  await platform.dispatch.handlers.result(linked, resultOf(run))
  const { objects } = await reply
  assert.deepEqual(
    objects.map(({ type, text }) => text ?? type),
    ['system', 'keepalive', 'hel', 'assistant', 'done'],
  )
})

test('question and answer are stored with run and session', async () => {
  const { turn, messages } = await startChatPlatform()
  const { run } = await turn(
    'ann',
    '/chat',
    { message: 'hi' },
    { metadata: { cost_usd: 0.25, output_tokens: 9 } },
  )
  const [question, answer] = await messages()
  assert.deepEqual(
    [question.role, question.content, question.execution_id, question.error_code],
    ['user', 'hi', run.execution_id, null],
  )
  assert.deepEqual(
    [answer.role, answer.content, answer.execution_id, answer.cost, answer.output_tokens],
    ['assistant', 'hello', run.execution_id, 0.25, 9],
  )
})

test("a turn resumes the runtime's session of the last turn", async () => {
  const { turn } = await startChatPlatform()
  const first = await turn('ann', '/chat', { message: 'one' }, { runtime_session_id: 'r1' })
  assert.equal(first.run.resume_session_id, null)
  const second = await turn('ann', '/chat', { message: 'two' }, { runtime_session_id: 'r2' })
  assert.equal(second.run.resume_session_id, 'r1')
  assert.equal(second.run.message, 'two')
  const third = await turn('ann', '/chat', { message: 'three' })
  assert.equal(third.run.resume_session_id, 'r2')
  assert.equal(new Set([first, second, third].map(({ run }) => run.session_id)).size, 1)
})

test('a runtime that lost its session gets the turn once more, with the conversation', async () => {
  const { call, turn, work, woken, platform, messages } = await startChatPlatform()
  await turn('ann', '/chat', { message: 'the word is mangrove' }, { runtime_session_id: 'r1' })
  const wake = woken()
  const reply = call('ann', 'POST', '/chat', { message: 'which word?' })
  await wake
  const lost = { status: 'failed' as const, error: 'no such session', metadata: { session_lost: true } }
  const first = await work(lost, [])
  assert.equal(first.resume_session_id, 'r1')
  const second = await work({ response: 'mangrove', runtime_session_id: 'r9' })
  assert.equal(second.execution_id, first.execution_id)
  assert.equal(second.resume_session_id, null)
  assert.match(second.message, /the word is mangrove[\s\S]*which word\?$/)
  assert.ok(second.claim_token > first.claim_token)
  const { objects } = await reply
  assert.equal(objects.at(-1).response, 'mangrove')
  assert.deepEqual(
    objects.flatMap(({ _n }) => _n ?? []),
    [1, 2],
  )
  assert.match(JSON.stringify(objects[1]), /starts again from the stored messages/)
  assert.equal((await messages()).length, 4)
  const third = await turn('ann', '/chat', { message: 'and now?' })
  assert.equal(third.run.resume_session_id, 'r9')
  assert.equal((await platform.row(first.execution_id)).status, 'success')
})

test('a session that is lost twice fails the turn', async () => {
  const { turn, work, call, woken } = await startChatPlatform()
  await turn('ann', '/chat', { message: 'one' }, { runtime_session_id: 'r1' })
  const wake = woken()
  const reply = call('ann', 'POST', '/chat', { message: 'two' })
  await wake
  const lost = { status: 'failed' as const, error: 'gone', metadata: { session_lost: true } }
  await work(lost, [])
  await work(lost, [])
  assert.equal((await reply).objects.at(-1).status, 'failed')
})

test('a failed turn: the stream stays 200 and ends with done, JSON has the status of a task', async () => {
  const { turn, messages } = await startChatPlatform()
  const failure = {
    status: 'failed' as const,
    response: null,
    error: 'broke',
    error_code: 'agent_error' as const,
  }
  const streamed = await turn('ann', '/chat', { message: 'hi' }, failure)
  assert.equal(streamed.status, 200)
  const done = streamed.objects.at(-1)
  assert.deepEqual(
    [done.status, done.response, done.detail, done.error, done.error_code],
    ['failed', null, 'broke', 'run_failed', 'agent_error'],
  )
  for (const [error_code, status, error] of [
    ['agent_error', 503, 'run_failed'],
    ['timeout', 504, 'run_timeout'],
    ['stalled', 504, 'run_timeout'],
    ['rate_limited', 429, 'provider_rate_limited'],
  ] as const) {
    const reply = await turn('ann', '/chat', { message: 'hi' }, { ...failure, error_code }, json)
    assert.deepEqual([reply.status, reply.json.error, reply.json.error_code], [status, error, error_code])
    assert.equal(reply.json.execution_id, reply.run.execution_id)
    assert.equal(reply.headers['x-execution-id'], reply.run.execution_id)
  }
  const marks = (await messages()).map(({ role, error_code }) => [role, error_code])
  assert.deepEqual(marks[0], ['user', 'agent_error'])
  assert.ok(marks.every(([role]) => role === 'user'))
})

test('a cancelled turn is a reply with status cancelled and a null response', async () => {
  const { call, woken, messages } = await startChatPlatform()
  const wake = woken()
  const reply = call('ann', 'POST', '/chat', { message: 'hi' }, json)
  await wake
  const [execution] = (await call('ann', 'GET', '/executions')).json
  await call('ann', 'POST', `/executions/${execution.id}/terminate`)
  const { status, json: body } = await reply
  assert.equal(status, 200)
  assert.deepEqual([body.status, body.response], ['cancelled', null])
  assert.equal((await messages())[0].error_code, 'user_cancelled')
})
