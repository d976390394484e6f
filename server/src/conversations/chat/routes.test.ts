import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunResult } from '@roost/contracts/link/messages'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { createIdempotency } from '../../foundation/idempotency/index.ts'
import { createFakeAgentLink } from '../../ports/agent-link/fake.ts'
import { silentLog } from '../../ports/log.ts'
import { executionRoutes } from '../../runs/executions/index.ts'
import { createTestClock } from '../../test/clock.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { agentFact, linked, person, resultOf, startRunPlatform } from '../../test/run-platform.ts'
import { chatRoutes, createChat } from './index.ts'

// biome-ignore lint/suspicious/noExplicitAny: replies are looked at field by field; their shapes are checked by the server
type Loose = any

const said = (text: string): TranscriptLine => ({
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'text', text }] },
})
const key = (scope: 'agent' | 'connector', agent_id: string) => ({
  kind: 'key' as const,
  user: person().user,
  key: { id: `k-${scope}-${agent_id}`, name: scope, scope, agent_id },
})

async function start() {
  const clock = createTestClock()
  const link = createFakeAgentLink()
  const db = await openTestDatabase()
  const platform = await startRunPlatform({ db, clock, link, queueDepth: 5 })
  const { executions, dispatch, hooks, events } = platform
  const idempotency = createIdempotency({
    db,
    clock,
    log: silentLog,
    workState: async (work) => (await chat.workState(work)) ?? { state: 'void' },
  })
  const chat = createChat({
    ...{ db, clock, link, events, hooks, dispatch, executions, idempotency },
    log: silentLog,
    agentName: async (id) => `name-of-${id}`,
  })
  const app = routesApp([...chatRoutes(chat), ...executionRoutes(executions, silentLog)], {
    ann: { caller: person(), relation: 'owner' },
    bob: { caller: person({ id: 'u2', username: 'bob', email: 'bob@example.org' }), relation: 'shared' },
    admin: { caller: person({ id: 'u3', username: 'root', role: 'admin' }), relation: 'admin' },
    agent: { caller: key('agent', 'a2'), relation: 'permitted' },
    self: { caller: key('agent', 'a1'), relation: 'self' },
    connector: { caller: key('connector', 'a1'), relation: 'shared' },
  })
  async function call(
    who: string,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    payload?: object,
    headers: Record<string, string> = {},
  ) {
    const reply = await app.inject({
      method,
      url: `/api/agents/scout${path}`,
      headers: as(who, headers),
      ...(payload ? { payload } : {}),
    })
    const type = String(reply.headers['content-type'])
    const json: Loose = type.includes('application/json') ? reply.json() : null
    const objects: Loose[] = type.includes('x-ndjson')
      ? reply.body
          .trimEnd()
          .split('\n')
          .map((text) => JSON.parse(text))
      : []
    return { status: reply.statusCode, headers: reply.headers, text: reply.body, json, objects }
  }

  /** Takes the next run as the agent would, says something and ends it. */
  async function work(over: Partial<RunResult> = {}, lines: TranscriptLine[] = [said('hello')]) {
    const { runs } = await dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    const run = runs[0] ?? assert.fail('nothing was handed out')
    const hold = { execution_id: run.execution_id, claim_token: run.claim_token }
    await dispatch.handlers.started(linked, { t: 'started', ...hold, pid: 1 })
    if (lines.length > 0) await dispatch.handlers.lines(linked, { t: 'lines', ...hold, from: 1, lines })
    await dispatch.handlers.result(linked, resultOf(run, { response: 'hello', ...over }))
    return run
  }
  /** Resolves when the agent is told that there is work. */
  const woken = () =>
    new Promise<void>((resolve) => {
      const wake = link.wake
      link.wake = (agentId) => {
        link.wake = wake
        wake(agentId)
        resolve()
      }
    })
  /** One whole turn. */
  async function turn(
    who: string,
    path: string,
    payload: object,
    over: Partial<RunResult> = {},
    headers = {},
  ) {
    const wake = woken()
    const reply = call(who, 'POST', path, payload, headers)
    await wake
    const run = await work(over)
    return { run, ...(await reply) }
  }
  const messages = async (who = 'ann') =>
    (await call(who, 'GET', '/chat/history/persistent')).json.messages as Loose[]
  return { platform, link, clock, call, work, turn, woken, messages }
}

const json = { accept: 'application/json' }

test('a turn streams JSON lines: accepted, the transcript, done', async () => {
  const { turn, platform } = await start()
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

test('the same as server-sent events, with line numbers as ids', async () => {
  const { turn } = await start()
  const { text, headers } = await turn('ann', '/chat', { message: 'hi' }, {}, { accept: 'text/event-stream' })
  assert.equal(headers['content-type'], 'text/event-stream')
  const events = text.trim().split('\n\n')
  assert.match(events[0] ?? '', /^data: \{"type":"system","subtype":"accepted"/)
  assert.match(events[1] ?? '', /^id: 1\ndata: \{"type":"assistant"/)
  assert.match(events[2] ?? '', /^data: \{"type":"done"/)
})

test('the reply alone as JSON when the turn ends, with its log', async () => {
  const { turn } = await start()
  const { json: reply, headers, run } = await turn('ann', '/chat', { message: 'hi' }, {}, json)
  assert.equal(headers['x-execution-id'], run.execution_id)
  assert.equal(reply.response, 'hello')
  assert.equal(reply.execution_log.length, 1)
  assert.equal(reply.type, undefined)
})

test('pieces of the answer come before their line; keepalive after 15 s of silence', async () => {
  const { call, platform, clock, woken } = await start()
  const wake = woken()
  const reply = call('ann', 'POST', '/chat', { message: 'hi' })
  await wake
  const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
  const run = runs[0] ?? assert.fail()
  const hold = { execution_id: run.execution_id, claim_token: run.claim_token }
  await clock.waiting(1)
  await clock.advance(15)
  await clock.waiting(1)
  platform.dispatch.handlers.partial(linked, { t: 'partial', ...hold, kind: 'text', text: 'hel' })
  await platform.dispatch.handlers.lines(linked, { t: 'lines', ...hold, from: 1, lines: [said('hello')] })
  await platform.dispatch.handlers.result(linked, resultOf(run))
  const { objects } = await reply
  assert.deepEqual(
    objects.map(({ type, text }) => text ?? type),
    ['system', 'keepalive', 'hel', 'assistant', 'done'],
  )
})

test('question and answer are stored with run and session', async () => {
  const { turn, messages } = await start()
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

test("a turn goes on in the runtime's own session as the last one left it", async () => {
  const { turn } = await start()
  const first = await turn('ann', '/chat', { message: 'one' }, { runtime_session_id: 'r1' })
  assert.equal(first.run.resume_session_id, null)
  const second = await turn('ann', '/chat', { message: 'two' }, { runtime_session_id: 'r2' })
  assert.equal(second.run.resume_session_id, 'r1')
  assert.equal(second.run.message, 'two')
  const third = await turn('ann', '/chat', { message: 'three' })
  assert.equal(third.run.resume_session_id, 'r2')
  assert.equal(new Set([first, second, third].map(({ run }) => run.session_id)).size, 1)
})

test('a runtime that lost its session gets the turn once more, with what was said', async () => {
  const { call, turn, work, woken, platform, messages } = await start()
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
  const { turn, work, call, woken } = await start()
  await turn('ann', '/chat', { message: 'one' }, { runtime_session_id: 'r1' })
  const wake = woken()
  const reply = call('ann', 'POST', '/chat', { message: 'two' })
  await wake
  const lost = { status: 'failed' as const, error: 'gone', metadata: { session_lost: true } }
  await work(lost, [])
  await work(lost, [])
  assert.equal((await reply).objects.at(-1).status, 'failed')
})

test('a failed turn: a stream stays 200 and ends in done, JSON has the status of a task', async () => {
  const { turn, messages } = await start()
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

test('a cancelled turn is a reply: status cancelled, response null', async () => {
  const { call, woken, messages } = await start()
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

test('nobody waits longer than twice the timeout: 504, and the turn goes on', async () => {
  const { call, woken, clock, platform } = await start()
  platform.agents.set('a1', agentFact({ execution_timeout_seconds: 60 }))
  const wake = woken()
  const reply = call('ann', 'POST', '/chat', { message: 'hi' }, json)
  await wake
  await clock.waiting(2)
  await clock.advance(120)
  const { status, json: body } = await reply
  assert.deepEqual([status, body.error, body.status], [504, 'sync_wait_exceeded', 'queued_timeout'])
  assert.equal((await platform.row(body.execution_id)).status, 'queued')
})

test('what is refused leaves no run and no message', async () => {
  const { call, platform, messages } = await start()
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

test('429 queue_full beyond the bound, nothing stored of it', async () => {
  const { call, woken, messages, platform } = await start()
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

test('a later turn says that it waits, and at which place', async () => {
  const { call, woken, work } = await start()
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

test('files travel with the run and are named in the message', async () => {
  const { turn, messages } = await start()
  const files = [{ name: 'dir/a.txt', mimetype: 'text/plain', size: 2, data_base64: 'aGk=' }]
  const { run } = await turn('ann', '/chat', { message: 'look', files })
  assert.deepEqual(
    run.attachments.map(({ name, mimetype, size, data_base64 }) => [name, mimetype, size, data_base64]),
    [['a.txt', 'text/plain', 2, 'aGk=']],
  )
  assert.deepEqual((await messages())[0].files, [{ name: 'a.txt', mimetype: 'text/plain', size: 2 }])
})

test('model and timeout of a session message are dispatched, the timeout at most the cap', async () => {
  const { call, turn, platform } = await start()
  const session = (await call('ann', 'POST', '/sessions', {})).json
  const path = `/sessions/${session.id}/message`
  const { run } = await turn('ann', path, { message: 'hi', model: 'opus', timeout_seconds: 60 })
  assert.deepEqual([run.model, run.timeout_seconds, run.session_id], ['opus', 60, session.id])
  assert.equal((await platform.row(run.execution_id)).triggered_by, 'session')
  const capped = await turn('ann', path, { message: 'hi', timeout_seconds: 7200 })
  assert.equal(capped.run.timeout_seconds, 3600)
  for (const timeout_seconds of [9, 7201, '60']) {
    assert.equal((await call('ann', 'POST', path, { message: 'hi', timeout_seconds })).status, 422)
  }
})

test('conversations are private: 404 for others, the owner included; admins read and cannot write', async () => {
  const { call, turn } = await start()
  const { run } = await turn('bob', '/chat', { message: 'between us' })
  const id = run.session_id
  for (const who of ['ann', 'agent', 'self']) {
    for (const [method, path] of [
      ['GET', `/chat/sessions/${id}`],
      ['GET', `/sessions/${id}`],
      ['POST', `/chat/sessions/${id}/close`],
      ['POST', `/sessions/${id}/reset`],
      ['DELETE', `/sessions/${id}`],
    ] as const) {
      const { status, json: body } = await call(who, method, path)
      assert.deepEqual([status, body.error], [404, 'session_not_found'], `${who} ${method} ${path}`)
    }
    assert.equal((await call(who, 'POST', `/sessions/${id}/message`, { message: 'x' })).status, 404)
    assert.doesNotMatch((await call(who, 'GET', '/chat/history/persistent')).text, /between us/)
    assert.equal((await call(who, 'GET', '/chat/sessions')).json.session_count, 0)
  }
  assert.match((await call('admin', 'GET', `/chat/sessions/${id}`)).text, /between us/)
  assert.equal((await call('admin', 'GET', '/chat/sessions?all=true')).json.session_count, 1)
  assert.equal((await call('admin', 'POST', `/sessions/${id}/message`, { message: 'x' })).status, 404)
  assert.equal((await call('bob', 'GET', '/chat/sessions?all=true')).json.error, 'admin_required')
})

test('an agent and a connector talk for themselves, not in their owner’s conversation', async () => {
  const { turn, call, platform } = await start()
  const own = await turn('ann', '/chat', { message: 'mine' })
  const agent = await turn('agent', '/chat', { message: 'theirs' })
  const connector = await turn('connector', '/chat', { message: 'its' })
  assert.equal(new Set([own, agent, connector].map(({ run }) => run.session_id)).size, 3)
  const row = await platform.row(agent.run.execution_id)
  assert.deepEqual([row.triggered_by, row.source_agent_name, row.chain_depth], ['agent', 'name-of-a2', 1])
  assert.equal((await call('connector', 'GET', '/chat/sessions')).json.error, 'scope_not_allowed')
  assert.equal(
    (await call('connector', 'GET', `/executions/${connector.run.execution_id}`)).json.response,
    'hello',
  )
  assert.equal((await call('connector', 'GET', `/executions/${own.run.execution_id}`)).status, 404)
})

test('sessions: begin, make current, list, read in pages, close', async () => {
  const { call, turn } = await start()
  const first = await turn('ann', '/chat', { message: 'one' })
  const created = await call('ann', 'POST', '/session', { title: ' Other ', make_current: true })
  assert.equal(created.status, 201)
  assert.deepEqual(
    [created.json.title, created.json.is_current, created.json.status],
    ['Other', true, 'active'],
  )
  const second = await turn('ann', '/chat', { message: 'two' })
  assert.equal(second.run.session_id, created.json.id)
  assert.notEqual(second.run.session_id, first.run.session_id)
  await turn('ann', '/chat', { message: 'three' })

  const list = (await call('ann', 'GET', '/chat/sessions')).json
  assert.deepEqual([list.agent_name, list.session_count, list.sessions.length], ['scout', 2, 2])
  assert.equal((await call('ann', 'GET', '/sessions?status=closed')).json.length, 0)

  const { messages, message_count } = (await call('ann', 'GET', `/chat/sessions/${created.json.id}?limit=2`))
    .json
  assert.equal(message_count, 4)
  assert.deepEqual(
    messages.map(({ content }: Loose) => content),
    ['three', 'hello'],
  )
  const older = await call('ann', 'GET', `/chat/sessions/${created.json.id}?before=${messages[0].id}`)
  assert.deepEqual(
    older.json.messages.map(({ content }: Loose) => content),
    ['two', 'hello'],
  )
  assert.equal((await call('ann', 'GET', `/chat/sessions/${created.json.id}?before=nonsense`)).status, 422)

  const path = `/chat/sessions/${created.json.id}/close`
  assert.deepEqual((await call('ann', 'POST', path)).json, { status: 'closed', session_id: created.json.id })
  assert.equal((await call('ann', 'POST', path)).status, 200)
  const conflict = await call('ann', 'POST', `/sessions/${created.json.id}/message`, { message: 'x' })
  assert.deepEqual([conflict.status, conflict.json.error], [409, 'conflict'])
  const fresh = await turn('ann', '/chat', { message: 'four' })
  assert.ok(![created.json.id, first.run.session_id].includes(fresh.run.session_id))
})

test('history is that of the current conversation; deleting it closes the conversation', async () => {
  const { call, turn } = await start()
  assert.deepEqual((await call('ann', 'GET', '/chat/history')).json, [])
  assert.equal((await call('ann', 'DELETE', '/chat/history')).json.session_id, null)
  const { run } = await turn('ann', '/chat', { message: 'one' })
  const history = (await call('ann', 'GET', '/chat/history')).json
  assert.deepEqual(
    history.map(({ role, content }: Loose) => [role, content]),
    [
      ['user', 'one'],
      ['assistant', 'hello'],
    ],
  )
  const reset = (await call('ann', 'DELETE', '/chat/history')).json
  assert.deepEqual([reset.status, reset.session_id], ['reset', run.session_id])
  assert.deepEqual((await call('ann', 'GET', '/chat/history')).json, [])
  assert.equal((await call('ann', 'GET', '/chat/history/persistent')).json.message_count, 2)
})

test("reset forgets the runtime's session and what was said, keeps the messages, drops the live process", async () => {
  const { call, turn, link } = await start()
  const { run } = await turn('ann', '/chat', { message: 'one' }, { runtime_session_id: 'r1' })
  link.link('a1', { 'session.drop': () => ({ ok: true }) })
  const reset = await call('ann', 'POST', `/sessions/${run.session_id}/reset`)
  assert.deepEqual([reset.json.runtime_session_id, reset.json.message_count], [null, 2])
  assert.ok(link.asked.some(({ t }) => t === 'session.drop'))
  const next = await turn('ann', '/chat', { message: 'two' })
  assert.deepEqual([next.run.resume_session_id, next.run.message], [null, 'two'])
})

test('while a turn is in progress the session says so and is neither reset nor deleted', async () => {
  const { call, woken, work } = await start()
  const wake = woken()
  const reply = call('ann', 'POST', '/chat', { message: 'one' })
  await wake
  const [session] = (await call('ann', 'GET', '/sessions')).json
  const [execution] = (await call('ann', 'GET', '/executions')).json
  assert.deepEqual([session.turn_in_progress, session.in_flight_execution_id], [true, execution.id])
  for (const [method, path] of [
    ['POST', `/sessions/${session.id}/reset`],
    ['DELETE', `/sessions/${session.id}`],
  ] as const) {
    const { status, json: body } = await call('ann', method, path)
    assert.deepEqual([status, body.error, body.execution_id], [409, 'turn_in_progress', execution.id])
  }
  await work()
  await reply
  assert.equal((await call('ann', 'DELETE', `/sessions/${session.id}`)).status, 200)
  assert.equal((await call('ann', 'GET', `/sessions/${session.id}`)).status, 404)
})

test('five first messages at once are one conversation, its turns one after another', async () => {
  const { call, platform } = await start()
  const replies = Array.from({ length: 5 }, (_, index) =>
    call('ann', 'POST', '/chat', { message: `${index}` }, json),
  )
  for (let number = 0; number < 5; ) {
    const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 9 })
    assert.ok(runs.length <= 1, 'turns of one conversation are serial')
    for (const run of runs) {
      await platform.dispatch.handlers.result(linked, resultOf(run))
      number += 1
    }
    if (runs.length === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const done = await Promise.all(replies)
  assert.equal(new Set(done.map(({ json: body }) => body.session.id)).size, 1)
  assert.equal((await call('ann', 'GET', '/sessions')).json[0].message_count, 10)
})

test('an idempotency key: the reply again, 409 while it runs, anew after a failure', async () => {
  const { call, turn, woken, work } = await start()
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
  const { call, turn } = await start()
  const keyed = { ...json, 'idempotency-key': 'k1' }
  assert.equal((await call('ann', 'POST', '/chat', { message: 'hi', model: 'nonsense' }, keyed)).status, 422)
  const mine = await turn('ann', '/chat', { message: 'hi' }, {}, keyed)
  const theirs = await turn('bob', '/chat', { message: 'hi' }, {}, keyed)
  assert.notEqual(mine.run.execution_id, theirs.run.execution_id)
})

test('the person is told that the reply is ready, and nobody else', async () => {
  const { turn, platform } = await start()
  const { run } = await turn('ann', '/chat', { message: 'hi' })
  await platform.events.relaying.pass()
  const told = (await platform.events.after(0, 100)).find(({ type }) => type === 'chat.response_ready')
  assert.equal(told?.visible_to_user_id, 'u1')
  assert.deepEqual(told?.fields, {
    execution_id: run.execution_id,
    session_id: run.session_id,
    status: 'success',
  })
  const created = (await platform.events.after(0, 100)).find(({ type }) => type === 'execution.created')
  assert.equal(created?.fields.message_preview, undefined, 'a private message is not shown around')
})
