/** Tasks as a user sends them: responses, order, outcomes, and attachments. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  eventually,
  type Loose,
  type Platform,
  type Reply,
  type RequestOptions,
  signIn,
  startPlatform,
} from './platform.ts'
import {
  agentKeyOf,
  answerOf,
  assertShape,
  chat,
  createAgent,
  execution,
  isOver,
  isSpawned,
  runInAgent,
  untilExecution,
} from './steps.ts'

const name = 'qa-tasks'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const api = (method: string, path: string, body?: object, options?: RequestOptions) =>
  platform.request(method, `/api/agents/${name}/${path}`, body, options)
const task = (body: string | object, options?: RequestOptions): Promise<Reply> =>
  api('POST', 'task', typeof body === 'string' ? { message: body } : body, options)
const startTask = async (message: string, over: object = {}): Promise<string> => {
  const { status, json, text } = await task({ message, async_mode: true, ...over })
  assert.equal(status, 200, text)
  return json.execution_id
}
const until = (id: string, accept: (row: Loose) => boolean) => untilExecution(platform, name, id, accept)
const terminate = (id: string) => api('POST', `executions/${id}/terminate`)
const fileText = async (path: string) => (await api('GET', `files/download?path=${path}`)).text

describe('responses', () => {
  test('sync: the connection stays open; the response contains text, figures, calls and transcript', async () => {
    const { status, headers, json } = await task('look [[tool:Bash:echo hi]] [[reply:seen]]')
    assert.equal(status, 200)
    assert.equal(headers.get('x-execution-id'), json.execution_id)
    assert.deepEqual(
      [json.status, json.response, json.task_execution_id],
      ['success', 'seen', json.execution_id],
    )
    assertShape(
      json.metadata,
      {
        ...{ cost_usd: 'number', duration_ms: 'number', num_turns: 'number', tool_count: 'number' },
        ...{ session_id: 'string', input_tokens: 'number', output_tokens: 'number' },
        ...{ cache_creation_tokens: 'number', cache_read_tokens: 'number', context_window: 'number' },
        ...{ context_tokens: 'number', model_used: 'string', compact_events: 'array' },
      },
      'metadata',
    )
    assert.deepEqual(
      json.tool_calls.map((call: Loose) => [call.tool, call.success]),
      [['Bash', true]],
    )
    assert.deepEqual(
      json.execution_log.map(({ type }: Loose) => type),
      ['system', 'assistant', 'user', 'assistant', 'result'],
    )
    const row = await execution(platform, name, json.execution_id)
    assert.deepEqual([row.status, row.triggered_by, row.response], ['success', 'manual', 'seen'])
  })

  test('async: accepted at once, then polled', async () => {
    const { status, headers, json } = await task({ message: '[[sleep:1]] [[reply:later]]', async_mode: true })
    assert.deepEqual([status, json.status, json.agent_name, json.async_mode], [200, 'accepted', name, true])
    assert.match(json.execution_status, /^(queued|running)$/)
    assert.equal(headers.get('x-execution-id'), json.execution_id)
    const row = await until(json.execution_id, isOver)
    assert.deepEqual([row.status, row.response], ['success', 'later'])
  })

  test('tasks are stateless; resume_session_id continues the session of an earlier one', async () => {
    const first = (await task('the word is plover [[reply:noted]]')).json
    assert.equal((await task('[[recall:plover]]')).json.response, 'recall=no')
    const resumed = await task({ message: '[[recall:plover]]', resume_session_id: first.metadata.session_id })
    assert.equal(resumed.json.response, 'recall=yes')
  })

  test('a failed task is 503, a provider-limited one 429, both with their execution', async () => {
    const failed = await task('[[fail:400]]')
    assert.deepEqual([failed.status, failed.json.error], [503, 'run_failed'])
    const limited = await task('[[ratelimit]]')
    assert.deepEqual(
      [limited.status, limited.json.error, limited.json.error_code],
      [429, 'provider_rate_limited', 'rate_limited'],
    )
    for (const { headers, json } of [failed, limited]) {
      assert.equal(headers.get('x-execution-id'), json.execution_id)
      assert.equal((await execution(platform, name, json.execution_id)).status, 'failed')
    }
  })

  test('timeout_seconds ends a run with 504 and is marked as deprecated', async () => {
    const { status, headers, json } = await task({ message: '[[sleep:60]]', timeout_seconds: 10 })
    assert.deepEqual([status, json.error, json.error_code], [504, 'run_timeout', 'timeout'])
    assert.ok(headers.get('x-execution-id'))
    const row = await execution(platform, name, json.execution_id)
    assert.deepEqual([row.status, row.terminal_reason, row.timeout_seconds], ['failed', 'max_duration', 10])
    const capped = await task({ message: '[[reply:x]]', timeout_seconds: 7200 })
    assert.ok(capped.headers.get('deprecation') && capped.headers.get('sunset'))
    assert.equal((await execution(platform, name, capped.json.execution_id)).timeout_seconds, 3600)
  })

  test('a disconnected client does not end its task', async () => {
    const client = new AbortController()
    const disconnected = task('[[hold:gone]] [[reply:still done]]', { signal: client.signal })
    const [running] = await eventually(
      async () => (await api('GET', 'executions/running')).json.executions,
      (rows) => rows.length === 1,
    )
    client.abort()
    await assert.rejects(disconnected)
    platform.model.release('gone')
    const row = await until(running.execution_id, isOver)
    assert.deepEqual([row.status, row.response], ['success', 'still done'])
  })
})

describe('options of a task', () => {
  test('files: images are seen, others go to uploads; a refusal names the file', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    const file = (fileName: string, mimetype: string, data: Buffer) => ({
      name: fileName,
      mimetype,
      size: data.length,
      data_base64: data.toString('base64'),
    })
    const note = file('../notes.csv', 'text/csv', Buffer.from('a,b\n1,2\n'))
    const seen = await task({ message: '[[images]]', files: [file('a.png', 'image/png', png), note] })
    assert.equal(seen.json.response, 'images=1')
    assert.equal(await fileText('uploads/notes.csv'), 'a,b\n1,2\n')
    for (const mimetype of ['application/pdf', 'application/gzip', 'audio/mpeg', 'video/mp4']) {
      const { status, json } = await task({ message: 'x', files: [file('bad.bin', mimetype, png)] })
      assert.deepEqual([status, json.error, json.file], [422, 'attachment_rejected', 'bad.bin'], mimetype)
    }
    const large = file('large.txt', 'text/plain', Buffer.alloc(5 * 1024 * 1024 + 1, 'x'))
    assert.equal((await task({ message: 'x', files: [large] })).json.error, 'attachment_too_large')
    const four = await task({ message: 'x', files: [note, note, note, note] })
    assert.deepEqual([four.status, four.json.error], [422, 'attachment_rejected'])
  })

  test('allowed_tools restricts a task to these tools, or to none', async () => {
    const write = '[[tool:Write:{"file_path":"/home/developer/held.txt","content":"x"}]] [[reply:tried]]'
    for (const allowed_tools of [['Read'], []]) {
      assert.equal((await task({ message: write, allowed_tools })).json.response, 'no-tool: Write')
      assert.equal((await api('GET', 'files/download?path=held.txt')).status, 404, String(allowed_tools))
    }
    const { json } = await task({ message: write, allowed_tools: ['Write'] })
    assert.equal(await fileText('held.txt'), 'x')
    assert.deepEqual((await execution(platform, name, json.execution_id)).allowed_tools, ['Write'])
  })

  test('system_prompt is appended, the model applied, an unknown model refused without a run', async () => {
    const prompted = await task({ message: '[[system]]', system_prompt: 'Speak like a pirate.' })
    assert.ok(prompted.json.response.includes('\n\nSpeak like a pirate.'))
    assert.match((await task({ message: '[[model]]', model: 'haiku' })).json.response, /haiku/)
    const total = async () => (await api('GET', 'executions?limit=1')).headers.get('x-total-count')
    const before = await total()
    const refused = await task({ message: 'x', model: 'llama-3' })
    assert.deepEqual(
      [refused.status, refused.json.error, refused.json.value],
      [422, 'invalid_model', 'llama-3'],
    )
    assert.match(refused.json.detail, /llama-3/)
    assert.equal(await total(), before)
  })

  test('save_to_session: the conversation contains the exchange, and its next turn knows it', async () => {
    await answerOf(platform, name, 'begin [[reply:begun]]')
    const saved = await task({ message: 'kestrel [[reply:counted]]', save_to_session: true })
    const history = (await api('GET', 'chat/history')).json
    assert.deepEqual(
      history.slice(-2).map(({ role, content }: Loose) => [role, content]),
      [
        ['user', 'kestrel [[reply:counted]]'],
        ['assistant', 'counted'],
      ],
    )
    assert.equal((await chat(platform, name, 'which bird? [[echo]]')).json.session.id, saved.json.session_id)
    assert.match((await api('GET', 'chat/history')).json.at(-1).content, /kestrel/)
  })

  test("a task of an agent for itself: self_task, with its response in the person's conversation", async () => {
    const token = await agentKeyOf(name)
    const session = (await chat(platform, name, 'look into it [[reply:I will]]')).json.session.id
    const selfTask = { message: 'dig [[reply:gold]]', session_id: session, inject_result: true }
    const { status, json } = await task(selfTask, { token })
    assert.deepEqual([status, json.response, json.session_id], [200, 'gold', session])
    assert.equal((await execution(platform, name, json.execution_id)).triggered_by, 'self_task')
    const last = (await api('GET', 'chat/history')).json.at(-1)
    assert.deepEqual([last.role, last.content], ['assistant', 'gold'])
    assert.equal((await task(selfTask)).status, 422)
  })
})

describe('slots and the queue', () => {
  before(() => api('PUT', 'capacity', { max_parallel_tasks: 2 }))

  test('as many tasks run as there are slots; the others wait in order of arrival', async () => {
    const blockers = [await startTask('[[sleep:600]]'), await startTask('[[sleep:600]]')]
    for (const id of blockers) await until(id, isSpawned)
    const ids: string[] = []
    for (let number = 0; number < 5; number += 1) ids.push(await startTask(`number ${number} [[sleep:0.3]]`))
    const sync = task('[[reply:held on the line]]')
    const queue = (await eventually(
      async () => (await api('GET', 'queue')).json,
      (shown) => shown.queue_length === 6,
    )) as Loose
    assert.deepEqual([queue.agent_name, queue.active], [name, 2])
    assert.deepEqual(
      queue.queued_executions.slice(0, 5).map((each: Loose) => [each.execution_id, each.position]),
      ids.map((id, index) => [id, index + 1]),
    )
    assert.deepEqual(Object.keys(queue.queued_executions[0]).toSorted(), [
      'execution_id',
      'position',
      'queued_at',
      'triggered_by',
    ])
    for (const id of blockers) assert.equal((await terminate(id)).json.status, 'terminated')
    const reply = await sync
    assert.deepEqual([reply.status, reply.json.response], [200, 'held on the line'])
    const rows = await Promise.all(ids.map((id) => until(id, isOver)))
    assert.deepEqual(
      rows.map(({ status }) => status),
      ids.map(() => 'success'),
    )
    const started = rows.map(({ started_at }) => started_at)
    assert.deepEqual(started, started.toSorted(), 'first in, first out')
  })

  test('clearing the queue ends waiting tasks, also on open connections, and leaves running ones', async () => {
    const blockers = [await startTask('[[sleep:600]]'), await startTask('[[sleep:600]]')]
    for (const id of blockers) await until(id, isSpawned)
    const waiting = [await startTask('a'), await startTask('b')]
    const sync = task('c')
    await eventually(
      async () => (await api('GET', 'queue')).json.queue_length,
      (length) => length === 3,
    )
    const cleared = await api('POST', 'queue/clear')
    assert.deepEqual([cleared.status, cleared.json], [200, { agent_name: name, cancelled: 3 }])
    const reply = await sync
    assert.deepEqual(
      [reply.status, reply.json],
      [200, { status: 'cancelled', execution_id: reply.headers.get('x-execution-id'), response: null }],
    )
    for (const id of waiting) assert.equal((await execution(platform, name, id)).status, 'cancelled')
    for (const id of blockers) assert.equal((await terminate(id)).json.status, 'terminated')
  })

  test('results of terminate; of twenty concurrent calls one wins, whatever the state of the run', async () => {
    const running = await startTask('[[tool:Bash:sleep 7654]]')
    const filler = await startTask('[[sleep:600]]')
    await until(running, (row) => row.tool_calls?.length === 1)
    await until(filler, isSpawned)
    const queued = await startTask('waits')
    for (const [id, result] of [
      [queued, 'cancelled_while_queued'],
      [running, 'terminated'],
    ] as const) {
      const replies = await Promise.all(Array.from({ length: 20 }, () => terminate(id)))
      const results = replies.map(({ json }) => json.status)
      assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
      assert.equal(results.filter((each) => each === result).length, 1, result)
      assert.equal(results.filter((each) => each === 'already_finished').length, 19)
      const row = await execution(platform, name, id)
      assert.deepEqual([row.status, row.error_code], ['cancelled', 'user_cancelled'])
    }
    await eventually(
      () => runInAgent(name, 'ps aux | grep -c "[s]leep 7654" || true'),
      (count) => count.trim() === '0',
    )
    await terminate(filler)
  })

  test('a task terminated right after acceptance never runs later', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await startTask('[[sleep:600]]')
      const { json } = await terminate(id)
      assert.match(json.status, /^(cancelled_while_queued|cancelled_while_parked|terminated)$/)
      assert.equal((await execution(platform, name, id)).status, 'cancelled')
    }
    await eventually(
      async () => (await api('GET', 'queue')).json.active,
      (active) => active === 0,
    )
    assert.equal((await task('[[reply:free again]]')).json.response, 'free again')
  })
})

describe('an idempotency key creates one task', () => {
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

  test('twenty at once: one execution; a later request replays the whole response', async () => {
    const body = { message: '[[sleep:1]] [[reply:once]]' }
    const replies = await Promise.all(Array.from({ length: 20 }, () => task(body, keyed('k-race'))))
    const done = replies.filter(({ status }) => status === 200)
    const conflicts = replies.filter(({ status }) => status === 409)
    assert.equal(done.length + conflicts.length, 20)
    assert.ok(done.length >= 1 && conflicts.length >= 1)
    const ids = replies.map(({ json }) => json.execution_id)
    assert.equal(new Set(ids).size, 1)
    const replay = await task(body, keyed('k-race'))
    assert.deepEqual([replay.status, replay.headers.get('x-idempotent-replay')], [200, 'true'])
    assert.deepEqual(replay.json, done[0]?.json)
  })

  test('a failure releases the key, and the log reports a different body for a used one', async () => {
    assert.equal((await task('[[fail:400]]', keyed('k-fail'))).status, 503)
    const second = await task('[[reply:better]]', keyed('k-fail'))
    assert.deepEqual([second.status, second.headers.get('x-idempotent-replay')], [200, null])
    const other = await task('[[reply:other]]', keyed('k-fail'))
    assert.deepEqual([other.json.response, other.headers.get('x-idempotent-replay')], ['better', 'true'])
    assert.match(platform.output(), /reused with a different body/)
  })

  test('after a kill during a keyed task, the key still returns the same run', async () => {
    const interrupted = task('[[hold:k-kill]] [[reply:survived]]', keyed('k-kill'))
    interrupted.catch(() => {})
    const id = await eventually(
      async () => (await api('GET', 'executions/running')).json.executions[0]?.execution_id,
      (found) => found !== undefined,
    )
    await until(id, isSpawned)
    await platform.killApi()
    await platform.startApi()
    platform.token = await signIn(platform)
    const repeated = task('[[hold:k-kill]] [[reply:survived]]', keyed('k-kill'))
    platform.model.release('k-kill')
    const during = await repeated
    assert.equal(during.json.execution_id, id, during.text)
    await until(id, isOver)
    const replay = await task('[[hold:k-kill]] [[reply:survived]]', keyed('k-kill'))
    assert.deepEqual([replay.status, replay.json.execution_id, replay.json.response], [200, id, 'survived'])
  })
})
