/** Chat in its three formats, conversations, model overrides, attachments and idempotency. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { answerText, collect, type Loose, type Platform, type Reply, startPlatform } from './platform.ts'
import {
  answerOf,
  assertShape,
  beginTurn,
  chat,
  createAgent,
  execution,
  isOver,
  isSpawned,
  shapeOf,
  untilExecution,
} from './steps.ts'

const name = 'qa-chat'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const api = (method: string, path: string, body?: object) =>
  platform.request(method, `/api/agents/${name}/${path}`, body)
const send = (body: string | object, headers: Record<string, string> = {}) =>
  chat(platform, name, body, { headers })
const newSession = async (body: object = {}) => {
  const reply = await api('POST', 'sessions', body)
  assert.equal(reply.status, 201, reply.text)
  return reply.json
}
const sendIn = (session: string, message: string) =>
  chat(platform, name, message, { path: `sessions/${session}/message` })

const metadata = shapeOf({
  number: 'tool_count input_tokens output_tokens cache_creation_tokens cache_read_tokens',
  'number?': 'cost_usd duration_ms num_turns context_window context_tokens',
  'string?': 'session_id model_used',
  array: 'compact_events',
})
const sessionOfReply = shapeOf({
  string: 'id',
  'string?': 'title',
  number: 'message_count context_tokens context_window total_cost',
})
function assertReply(reply: Loose, response: string | null): void {
  assert.equal(reply.response, response)
  assertShape(
    reply,
    { status: 'string', metadata: 'object', session: 'object', execution: 'object', timestamp: 'string' },
    'reply',
  )
  assertShape(reply.metadata, metadata, 'metadata')
  assertShape(reply.session, sessionOfReply, 'session')
  assert.equal(reply.execution.task_execution_id, reply.execution.id)
  assert.match(reply.execution.queue_status, /^(running|queued:\d+)$/)
  assert.equal(typeof reply.execution.was_queued, 'boolean')
}

describe('the three formats', () => {
  test('JSON lines: accepted first, done last, the transcript between', async () => {
    const objects = await collect(
      platform.stream(`/api/agents/${name}/chat`, { message: '[[reply:by lines]]' }),
    )
    const [first] = objects
    assert.deepEqual([first.type, first.subtype], ['system', 'accepted'])
    assertShape(first, { execution_id: 'string', status: 'string', session_id: 'string' }, 'accepted')
    assert.equal(answerText(objects), 'by lines')
    const stored = objects.filter((object) => object._n !== undefined)
    assert.deepEqual(
      stored.map(({ _n }) => _n),
      stored.map((_, index) => index + 1),
    )
    assert.deepEqual(
      stored.map(({ type }) => type),
      ['system', 'assistant', 'result'],
    )
    const done = objects.at(-1)
    assert.deepEqual([done.type, done.status], ['done', 'success'])
    assertReply(done, 'by lines')
    assert.equal(done.execution.id, first.execution_id)
  })

  test('events: the same objects with line numbers as ids', async () => {
    const response = await fetch(`${platform.url}/api/agents/${name}/chat`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${platform.token}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ message: '[[reply:by events]]' }),
    })
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.ok(response.headers.get('x-execution-id'))
    const events = (await response.text()).trim().split('\n\n')
    const parsed = events.map((event) => ({
      id: /^id: (\d+)$/m.exec(event)?.[1],
      data: JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? 'null'),
    }))
    assert.equal(parsed[0]?.data.subtype, 'accepted')
    for (const { id, data } of parsed) if (data._n) assert.equal(id, String(data._n))
    assert.equal(parsed.at(-1)?.data.type, 'done')
    assertReply(parsed.at(-1)?.data, 'by events')
  })

  test('JSON: the reply with the transcript', async () => {
    const reply = await send('[[reply:whole]]')
    assert.equal(reply.status, 200)
    assertReply(reply.json, 'whole')
    assert.equal(reply.headers.get('x-execution-id'), reply.json.execution.id)
    assert.deepEqual(
      reply.json.execution_log.map(({ type }: Loose) => type),
      ['system', 'assistant', 'result'],
    )
  })

  test('a failed turn: a stream reports it in done, JSON in the status', async () => {
    const objects = await collect(platform.stream(`/api/agents/${name}/chat`, { message: '[[fail:400]]' }))
    const done = objects.at(-1)
    assert.deepEqual([done.type, done.status, done.response], ['done', 'failed', null])
    assertShape(done, { detail: 'string', error: 'string', error_code: 'string' }, 'done')
    for (const [directive, status, error, code] of [
      ['[[fail:400]]', 503, 'run_failed', 'agent_error'],
      ['[[autherror]]', 503, 'run_failed', 'auth'],
      ['[[ratelimit]]', 429, 'provider_rate_limited', 'rate_limited'],
    ] as const) {
      const reply = await send(`fails ${directive}`)
      assert.deepEqual([reply.status, reply.json.error, reply.json.error_code], [status, error, code])
      const row = await execution(platform, name, reply.json.execution_id)
      assert.deepEqual([row.status, row.error_code, row.response], ['failed', code, null])
    }
    const messages = (await api('GET', 'chat/history/persistent')).json.messages
    const failed = messages.filter((message: Loose) => message.error_code)
    assert.equal(failed.length, 4)
    assert.ok(failed.every(({ role }: Loose) => role === 'user'))
  })

  test('a client that disconnects does not end the turn', async () => {
    const leaving = new AbortController()
    const stream = platform.stream(
      `/api/agents/${name}/chat`,
      { message: '[[sleep:0.5]] [[reply:without you]]' },
      { signal: leaving.signal },
    )
    let id = ''
    try {
      for await (const object of stream) {
        id = object.execution_id
        leaving.abort()
      }
    } catch (error) {
      assert.equal((error as Error).name, 'AbortError')
    }
    const row = await untilExecution(platform, name, id, isOver)
    assert.deepEqual([row.status, row.response], ['success', 'without you'])
  })
})

describe('conversations', () => {
  const shape = shapeOf({
    string: 'id agent_name user_id kind status started_at',
    'string?': 'title last_message_at runtime_session_id in_flight_execution_id',
    boolean: 'is_current turn_in_progress',
    number: 'message_count total_cost context_used context_max',
  })
  const message = shapeOf({ string: 'id session_id agent_name timestamp source execution_id' })

  test('each has its own memory, messages and totals', async () => {
    const [one, two] = [await newSession({ title: 'One' }), await newSession()]
    assertShape(one, shape, 'session')
    assert.deepEqual([one.title, one.kind, one.status, one.message_count], ['One', 'chat', 'active', 0])
    assert.equal((await sendIn(one.id, 'the word is sorrel [[reply:noted]]')).json.session.id, one.id)
    assert.equal((await sendIn(two.id, '[[recall:sorrel]]')).json.response, 'recall=no')
    assert.equal((await sendIn(one.id, '[[recall:sorrel]]')).json.response, 'recall=yes')
    const read = (await api('GET', `chat/sessions/${one.id}`)).json
    assertShape(read.session, shape, 'session')
    assert.deepEqual(
      read.messages.map(({ role }: Loose) => role),
      ['user', 'assistant', 'user', 'assistant'],
    )
    assert.deepEqual([read.message_count, read.session.message_count], [4, 4])
    assert.ok(read.session.total_cost > 0)
    assert.equal(read.messages[1].content, 'noted')
    for (const each of read.messages) assertShape(each, message, 'message')
    const row = await execution(platform, name, read.messages[1].execution_id)
    assert.deepEqual([row.triggered_by, row.session_id], ['session', one.id])
  })

  test("reset clears the runtime's session and keeps the messages", async () => {
    const { id } = await newSession()
    await sendIn(id, 'the word is yarrow')
    const reset = await api('POST', `sessions/${id}/reset`)
    assert.deepEqual([reset.json.runtime_session_id, reset.json.message_count], [null, 2])
    assert.equal((await sendIn(id, '[[recall:yarrow]]')).json.response, 'recall=no')
  })

  test('a closed one refuses messages, stays readable and is listed as closed; a deleted one is 404', async () => {
    const { id } = await newSession()
    await sendIn(id, 'hello')
    const closed = await api('POST', `chat/sessions/${id}/close`)
    assert.deepEqual(closed.json, { status: 'closed', session_id: id })
    const refused = await sendIn(id, 'more')
    assert.deepEqual([refused.status, refused.json.error], [409, 'conflict'])
    assert.equal((await api('GET', `sessions/${id}`)).json.messages.length, 2)
    const listed = await api('GET', 'chat/sessions?status=closed')
    assert.deepEqual([listed.json.session_count, listed.json.sessions[0].id], [1, id])
    assert.equal((await api('DELETE', `sessions/${id}`)).json.session_id, id)
    for (const reply of [
      await api('GET', `sessions/${id}`),
      await sendIn(id, 'x'),
      await api('POST', `chat/sessions/${id}/close`),
    ])
      assert.deepEqual([reply.status, reply.json.error], [404, 'session_not_found'])
  })

  test('chat uses the current one; deleting the history closes it and starts another', async () => {
    await answerOf(platform, name, 'the word is tansy')
    const history = (await api('GET', 'chat/history')).json
    assertShape(history.at(-1), { role: 'string', content: 'string', timestamp: 'string' }, 'history')
    const reset = await api('DELETE', 'chat/history')
    assert.equal(reset.json.status, 'reset')
    assert.deepEqual((await api('GET', 'chat/history')).json, [])
    assert.equal(await answerOf(platform, name, '[[recall:tansy]]'), 'recall=no')
    const chosen = await newSession({ make_current: true })
    const reply = await send('here')
    assert.equal(reply.json.session.id, chosen.id)
  })

  test('turns of one conversation are serial, those of two are not', async () => {
    await api('DELETE', 'chat/history')
    const first = await beginTurn(platform, name, '[[hold:serial]] [[reply:first]]')
    await untilExecution(platform, name, first.id, isSpawned)
    const second = await beginTurn(platform, name, '[[reply:second]]')
    const other = await newSession()
    assert.equal((await sendIn(other.id, '[[reply:beside]]')).json.response, 'beside')
    assert.equal((await execution(platform, name, first.id)).status, 'running')
    assert.equal((await execution(platform, name, second.id)).status, 'queued')
    const session = (await api('GET', 'chat/sessions')).json.sessions.find((each: Loose) => each.is_current)
    assert.deepEqual([session.turn_in_progress, session.in_flight_execution_id], [true, first.id])
    platform.model.release('serial')
    await Promise.all([first.ended, second.ended])
    const [one, two] = [await execution(platform, name, first.id), await execution(platform, name, second.id)]
    assert.ok(one.completed_at <= two.started_at)
  })

  test('lists are paged and report the total', async () => {
    const all = await api('GET', 'chat/sessions')
    const one = await api('GET', 'chat/sessions?limit=1&offset=1')
    assert.equal(one.json.sessions.length, 1)
    assert.equal(one.json.sessions[0].id, all.json.sessions[1].id)
    assert.equal(Number(one.headers.get('x-total-count')), all.json.session_count)
    assert.equal((await api('GET', 'chat/history/persistent?limit=2')).json.messages.length, 2)
    for (const path of [
      'chat/sessions?limit=0',
      'chat/sessions?status=odd',
      'chat/history/persistent?limit=1001',
    ])
      assert.equal((await api('GET', path)).status, 422, path)
  })

  test('a conversation continues after its agent was stopped and started', async () => {
    const { id } = await newSession()
    await sendIn(id, 'the word is bugle')
    await api('POST', 'stop')
    await api('POST', 'start')
    assert.equal((await sendIn(id, '[[recall:bugle]]')).json.response, 'recall=yes')
  })
})

describe('model override', () => {
  test('applies only to its turn; blank means the default; case and suffix are ignored', async () => {
    const initial = await answerOf(platform, name, '[[model]]')
    assert.match(await answerOf(platform, name, { message: '[[model]]', model: 'claude-haiku-4-5' }), /haiku/)
    assert.equal(await answerOf(platform, name, '[[model]]'), initial)
    assert.equal(await answerOf(platform, name, { message: '[[model]]', model: '  ' }), initial)
    assert.match(await answerOf(platform, name, { message: '[[model]]', model: 'SONNET[1m]' }), /sonnet/)
  })

  test('422 for an unknown model, naming it, without an execution or a message', async () => {
    const before = (await api('GET', 'executions')).headers.get('x-total-count')
    const messages = (await api('GET', 'chat/history/persistent')).json.message_count
    for (const model of ['my-model', 'llama-3', 'x claude-']) {
      const reply = await send({ message: 'hi', model }, { 'idempotency-key': 'not consumed' })
      assert.deepEqual([reply.status, reply.json.error, reply.json.value], [422, 'invalid_model', model])
      assert.ok(JSON.stringify(reply.json.detail).includes(model))
    }
    assert.equal((await api('GET', 'executions')).headers.get('x-total-count'), before)
    assert.equal((await api('GET', 'chat/history/persistent')).json.message_count, messages)
    assert.equal((await send('[[reply:free]]', { 'idempotency-key': 'not consumed' })).json.response, 'free')
  })
})

describe('attachments', () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const file = (name: string, mimetype: string, data_base64: string) => ({ name, mimetype, data_base64 })

  test('the model sees images, plain or as data URIs', async () => {
    const files = [
      file('a.png', 'image/png', png),
      file('b.png', 'image/png', `data:image/png;base64,${png}`),
    ]
    assert.equal(await answerOf(platform, name, { message: '[[images]]', files }), 'images=2')
  })

  test('other files are stored in uploads under their base names, without overwriting', async () => {
    for (const content of ['a,b', 'c,d'])
      await answerOf(platform, name, {
        message: 'see',
        files: [file('../../etc/data.csv', 'text/csv', base64(content))],
      })
    const listed = (await api('GET', 'files?path=uploads')).json.tree.map((entry: Loose) => entry.name)
    assert.equal(listed.filter((each: string) => /^data.*\.csv$/.test(each)).length, 2)
    assert.equal((await api('GET', 'files/download?path=uploads/data.csv')).text, 'a,b')
  })

  test('a refused file is named and starts nothing', async () => {
    const before = (await api('GET', 'executions')).headers.get('x-total-count')
    const large = Buffer.alloc(5 * 1024 * 1024 + 1, 97).toString('base64')
    const bytes = Buffer.concat([Buffer.from(png, 'base64'), Buffer.alloc(4 * 1024 * 1024)])
    const picture = bytes.toString('base64')
    const rejected = [
      file('a.pdf', 'application/pdf', base64('%PDF-1.4')),
      file('a.tar', 'application/x-tar', base64('x')),
      file('a.gz', 'application/gzip', base64('x')),
      file('a.rar', 'application/vnd.rar', base64('x')),
      file('a.mp3', 'audio/mpeg', base64('x')),
      file('a.mp4', 'video/mp4', base64('x')),
      file('a.png', 'image/png', base64('no picture')),
      file('a.txt', 'text/plain', png),
      file('b.txt', 'text/plain', base64('%PDF-1.7')),
      file('c.txt', 'text/plain', '***'),
      file('a.zip', 'application/zip', base64('x')),
    ]
    const four = [1, 2, 3, 4].map((n) => file(`${n}.txt`, 'text/plain', base64('x')))
    type Refusal = [files: object[], status: number, error: string, named: string]
    const cases: Refusal[] = [
      ...rejected.map((each): Refusal => [[each], 422, 'attachment_rejected', each.name]),
      [four, 422, 'attachment_rejected', '4.txt'],
      [[file('big.txt', 'text/plain', large)], 413, 'attachment_too_large', 'big.txt'],
      [[1, 2, 3].map((n) => file(`${n}.png`, 'image/png', picture)), 413, 'attachment_too_large', '3.png'],
    ]
    for (const [files, status, error, named] of cases) {
      const reply = await send({ message: 'x', files })
      assert.deepEqual([reply.status, reply.json.error], [status, error], `${named}: ${reply.text}`)
      assert.ok(reply.json.detail.includes(named), reply.json.detail)
    }
    assert.equal((await api('GET', 'executions')).headers.get('x-total-count'), before)
  })
})

describe('idempotency', () => {
  const replayed = (reply: Reply) => reply.headers.get('x-idempotent-replay')

  test('the same key returns the stored reply, in each format', async () => {
    const key = { 'idempotency-key': 'once' }
    const first = await send('[[reply:original]]', key)
    const again = await send('something else', key)
    assert.deepEqual([replayed(first), replayed(again)], [null, 'true'])
    assert.deepEqual(again.json, first.json)
    const objects = await collect(
      platform.stream(`/api/agents/${name}/chat`, { message: 'x' }, { headers: key }),
    )
    assert.deepEqual(
      objects.map(({ type, response }) => [type, response]),
      [['done', 'original']],
    )
  })

  test('a duplicate during the run is 409 with its execution; of ten concurrent requests one runs', async () => {
    const key = { 'idempotency-key': 'at once' }
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => send('[[sleep:1]] [[reply:one]]', key)),
    )
    const ran = replies.filter(({ status }) => status === 200)
    assert.equal(ran.length, 1)
    for (const reply of replies.filter(({ status }) => status !== 200)) {
      assert.deepEqual([reply.status, reply.json.error], [409, 'request_in_progress'])
      assert.equal(reply.json.execution_id, ran[0]?.json.execution.id)
    }
    assert.equal(replayed(await send('x', key)), 'true')
  })

  test('a failed turn releases its key', async () => {
    const key = { 'idempotency-key': 'released' }
    assert.equal((await send('[[fail]]', key)).status, 503)
    const again = await send('[[reply:second try]]', key)
    assert.deepEqual([again.status, again.json.response, replayed(again)], [200, 'second try', null])
  })
})
